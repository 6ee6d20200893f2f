import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { Problem } from '../../../lib/problem.js';
import type { Notifications } from '../../../notifications/notifications.js';
import type { Streams } from '../../../notifications/stream/streams.js';
import { prefersEventStream } from '../../accept.js';
import {
  arrayForm,
  envelopeForm,
  NotificationListAnswers,
  NotificationListQuery,
  type SendInbox,
} from '../../notification-list.js';
import { type App, sessionOf } from '../../route.js';
import { sendStream } from './notification-stream.js';

const EventStream = {
  description: 'Events until the session ends.',
  content: {
    'text/event-stream': {
      schema: Type.String({
        description:
          'Notifications when they are created and changed (without an event name), `deleted`, `marker`, `reset`, `retained_from`, `session_expiring`. `id` is the change sequence: send the last one as Last-Event-ID.',
      }),
    },
  },
};

const { filter, since, sort } = NotificationListQuery.properties;
const StreamQuery = Type.Object({ filter, since, sort });

/** A user's own notifications. */
export function notificationRoutes(
  app: App,
  { notifications, streams, sendInbox }: { notifications: Notifications; streams: Streams; sendInbox: SendInbox },
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
        'Newest first. Follow the links: then you get each notification exactly once, even if others arrive meanwhile. With `envelope=true` the response is that of GET /v1/notifications/page; with `Accept: text/event-stream` it is that of GET /v1/notifications/stream.',
      tags: ['Notifications'],
      querystring: NotificationListQuery,
      response: NotificationListAnswers,
    },
    config: {
      access: 'session',
      isBounded: true,
      problems: ['too_many_requests', 'too_many_streams', 'shutting_down'],
      document: arrayForm,
    },
    async handler(request, reply) {
      addVary(reply, 'Accept');
      if (request.method !== 'HEAD' && prefersEventStream(request.headers.accept)) {
        return sendStream(request, reply, { notifications, streams });
      }
      const { user_id: userId } = sessionOf(request);
      const isSent = await sendInbox(request, reply, {
        ...{ list: notifications.listOwn, userId },
        path: '/v1/notifications',
      });
      // The user was deleted since the session was checked, and the session with the user.
      if (!isSent) throw new Problem('invalid_session_token');
      return reply;
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/notifications/page',
    schema: {
      operationId: 'getNotificationPage',
      summary: 'List notifications with an envelope',
      description: 'The same list as GET /v1/notifications, as an object with the page beside the notifications.',
      tags: ['Notifications'],
      ...envelopeForm,
    },
    config: { access: 'session', isBounded: true, problems: ['too_many_requests'] },
    async handler(request, reply) {
      const { user_id: userId } = sessionOf(request);
      const path = '/v1/notifications/page';
      const isSent = await sendInbox(request, reply, {
        ...{ list: notifications.listOwn, userId, path, isEnveloped: true },
      });
      // The user was deleted since the session was checked, and the session with the user.
      if (!isSent) throw new Problem('invalid_session_token');
      return reply;
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/notifications/stream',
    // Its answer has no end.
    exposeHeadRoute: false,
    schema: {
      operationId: 'streamNotifications',
      summary: 'Stream notifications',
      description:
        'Server-sent events: what happened after `Last-Event-ID`, or after `since`, or from now on. Only what matches `filter`.',
      tags: ['Notifications'],
      querystring: StreamQuery,
      response: { 200: EventStream },
    },
    config: {
      access: 'session',
      isBounded: true,
      problems: ['validation_failed', 'too_many_streams', 'shutting_down'],
    },
    async handler(request, reply) {
      await sendStream(request, reply, { notifications, streams });
      return reply;
    },
  });
}

/** The answer depends on that header of the request, and perhaps on others. */
function addVary(reply: FastifyReply, header: string): void {
  const others = reply.getHeader('vary');
  reply.header('Vary', others === undefined ? header : `${String(others)}, ${header}`);
}
