import { NewSession, Session } from '../../../contract/session.js';
import type { Sessions } from '../../../sessions/sessions.js';
import { type App, authenticationTokenOf, sessionOf } from '../../requests/route.js';

/** Routes that create and check session tokens. */
export function sessionRoutes(app: App, { sessions }: { sessions: Sessions }): void {
  app.route({
    method: 'POST',
    url: '/v1/sessions',
    schema: {
      operationId: 'createSession',
      summary: 'Get a session token',
      description:
        "The first use of an authentication token ends the older tokens of the user's device. Before that, a new login ends nothing.",
      tags: ['Sessions'],
      response: { 201: { ...NewSession, description: 'A session with its token.' } },
    },
    config: { access: 'authentication-token', isBounded: true, problems: ['account_unusable', 'account_locked'] },
    async handler(request, reply) {
      return reply.code(201).send(await sessions.create(authenticationTokenOf(request)));
    },
  });

  for (const method of ['POST', 'GET'] as const) {
    app.route({
      method,
      url: '/v1/sessions/verify',
      schema: {
        operationId: method === 'POST' ? 'verifySession' : 'getSession',
        summary: 'Check a session token',
        description: 'Every instance checks the token in the database, with the clock of the database.',
        tags: ['Sessions'],
        response: { 200: { ...Session, description: 'The session token is valid and active.' } },
      },
      config: { access: 'session', isBounded: true },
      // The authorization has verified the session already.
      handler: sessionOf,
    });
  }
}
