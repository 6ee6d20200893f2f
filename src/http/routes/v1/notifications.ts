import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { Problem } from '../../../lib/problem.js';
import type { Notifications } from '../../../notifications/notifications.js';
import type { Streams } from '../../../notifications/stream/streams.js';
import { prefersEventStream } from '../../accept.js';
import { NotificationListAnswers, NotificationListQuery, sendInbox } from '../../notification-list.js';
import { type App, sessionOf } from '../../route.js';
import { sendStream } from './notification-stream.js';

const { 200: List, ...otherAnswers } = NotificationListAnswers;
/** The list, or a stream for who asks for it (`Accept`). */
const ListOrStream = {
  description: 'A list, newest first unless sorted otherwise; or a stream.',
  content: {
    'application/json': { schema: List },
    'text/event-stream': {
      schema: Type.String({
        description:
          'Notifications as they are made and changed (without a name), `deleted`, `marker`, `reset`, `retained_from`, `session_expiring`. `id` is the change sequence: send the last one as Last-Event-ID.',
      }),
    },
  },
};

/** A user's own notifications. */
export function notificationRoutes(
  app: App,
  { notifications, streams }: { notifications: Notifications; streams: Streams },
): void {
  // Before connections are waited for.
  app.addHook('preClose', () => streams.close());
  app.route({
    method: 'GET',
    url: '/v1/notifications',
    schema: {
      operationId: 'listNotifications',
      summary: 'List notifications',
      description:
        'Newest first. Follow the links: then whatever arrives meanwhile, nothing is missed and nothing comes twice. With `Accept: text/event-stream` a stream of what happens, behind `Last-Event-ID`, or else behind `since`, or else from now on; `filter` applies, all other parameters do not.',
      tags: ['Notifications'],
      querystring: NotificationListQuery,
      response: { ...otherAnswers, 200: ListOrStream },
    },
    config: {
      access: 'session',
      isBounded: true,
      problems: ['too_many_requests', 'too_many_streams', 'shutting_down'],
    },
    async handler(request, reply) {
      addVary(reply, 'Accept');
      if (request.method !== 'HEAD' && prefersEventStream(request.headers.accept)) {
        return sendStream(request, reply, { notifications, streams });
      }
      const { user_id: userId } = sessionOf(request);
      const isSent = await sendInbox(request, reply, {
        ...{ notifications, list: notifications.listOwn, userId },
        path: '/v1/notifications',
      });
      // The user was deleted since the session was checked, and the session with the user.
      if (!isSent) throw new Problem('invalid_session_token');
      return reply;
    },
  });
}

/** The answer depends on that header of the request, and perhaps on others. */
function addVary(reply: FastifyReply, header: string): void {
  const others = reply.getHeader('vary');
  reply.header('Vary', others === undefined ? header : `${String(others)}, ${header}`);
}
