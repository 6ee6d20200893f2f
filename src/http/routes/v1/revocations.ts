import { Type } from 'typebox';
import type { RevocationStreams } from '../../../sessions/revocations/streams.js';
import { connectEventStream } from '../../requests/event-stream.js';
import { type App, callerOf } from '../../requests/route.js';

const RevocationStream = {
  description: 'Revocations, until the API key loses its right.',
  content: {
    'text/event-stream': {
      schema: Type.String({
        description:
          '`revocation`: `{"sid" | "sub" | "kid": id, "before": time}`. Refuse tokens of this login or user whose `iat` is at or before the second of `before`, and all tokens of this key. `beat`, every 5 seconds: `{"through": time, "now": time}`. All that was committed until `through` was sent. Its age is `now` minus `through`, and the time that has passed at your side since then. `reset`: your position is unknown, so all of the last 20 minutes follows. Send the last `id` as Last-Event-ID to continue.',
      }),
    },
  },
};

/** The stream of revoked access tokens, for other services. */
export function revocationRoutes(app: App, { revocationStreams }: { revocationStreams: RevocationStreams }): void {
  // The streams end in the hook preClose, because after this hook the server waits for open connections.
  app.addHook('preClose', () => revocationStreams.close());
  app.route({
    method: 'GET',
    url: '/v1/revocations',
    // The response has no end.
    exposeHeadRoute: false,
    schema: {
      operationId: 'streamRevocations',
      summary: 'Stream revocations of access tokens',
      description:
        'Server-sent events for services that check access tokens by themselves: which logins, users and keys no longer count. Each revocation is sent after its transaction has committed, at least once: those after `Last-Event-ID`, and without it those of the last 20 minutes. A stream without a beat for 15 seconds can no longer be relied on.',
      response: { 200: RevocationStream },
    },
    config: {
      access: { scope: 'sessions:verify' },
      hasNoHandlerTimer: true,
      problems: ['too_many_streams', 'shutting_down'],
    },
    async handler(request, reply) {
      const lastEventId = request.headers['last-event-id'];
      await revocationStreams.open({
        caller: callerOf(request).name,
        lastEventId: typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined,
        recheck: async () => request.authorized.recheck?.(),
        connect: () => connectEventStream(reply),
      });
      return reply;
    },
  });
}
