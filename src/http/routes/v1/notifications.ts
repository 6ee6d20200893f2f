import { Type } from 'typebox';
import { prefersEventStream } from '../../../lib/http-headers.js';
import { Problem } from '../../../lib/problem.js';
import type { Notifications } from '../../../notifications/notifications.js';
import type { Streams } from '../../../notifications/stream/streams.js';
import {
  arrayForm,
  envelopeForm,
  NotificationListQuery,
  notificationListResponses,
  type SendInbox,
} from '../../lists/notification-list.js';
import { addVary } from '../../requests/event-stream.js';
import { type App, sessionOf } from '../../requests/route.js';
import { sendStream } from './notification-stream.js';

const EventStream = {
  description: 'Events, until the session ends.',
  content: {
    'text/event-stream': {
      schema: Type.String({
        description:
          'Notifications when they are created and changed (without an event name), `deleted`, `marker`, `reset`, `retained_from`, `session_expiring`, and with `include=extra` also `state`. `id` is the change sequence: send the last one as Last-Event-ID to continue.',
      }),
    },
  },
};

const { filter, since, sort, include } = NotificationListQuery.properties;
const StreamQuery = Type.Object({ filter, since, sort, include });

/** Routes for a user's own notifications. */
export function notificationRoutes(
  app: App,
  { notifications, streams, sendInbox }: { notifications: Notifications; streams: Streams; sendInbox: SendInbox },
): void {
  // The streams end in the hook preClose, because after this hook the server waits for open connections.
  app.addHook('preClose', () => streams.close());
  app.route({
    method: 'GET',
    url: '/v1/notifications',
    schema: {
      operationId: 'listNotifications',
      summary: 'List notifications',
      description:
        'Newest first. Follow the links to get each notification exactly once, even while others arrive. With `envelope=true` the response is that of GET /v1/notifications/page; with `Accept: text/event-stream` it is that of GET /v1/notifications/stream.',
      querystring: NotificationListQuery,
      response: notificationListResponses,
    },
    config: {
      access: 'session',
      hasNoHandlerTimer: true,
      countsExactly: true,
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
        list: notifications.listOwn,
        userId,
        path: '/v1/notifications',
      });
      // The user and the session were deleted after the session was checked.
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
      description: 'The same list as GET /v1/notifications, as an object with the notifications and the page.',
      ...envelopeForm,
    },
    config: { access: 'session', hasNoHandlerTimer: true, countsExactly: true, problems: ['too_many_requests'] },
    async handler(request, reply) {
      const { user_id: userId } = sessionOf(request);
      const path = '/v1/notifications/page';
      const isSent = await sendInbox(request, reply, {
        list: notifications.listOwn,
        userId,
        path,
        isEnveloped: true,
      });
      // The user and the session were deleted after the session was checked.
      if (!isSent) throw new Problem('invalid_session_token');
      return reply;
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/notifications/stream',
    // The response has no end.
    exposeHeadRoute: false,
    schema: {
      operationId: 'streamNotifications',
      summary: 'Stream notifications',
      description:
        'Server-sent events for notifications that match `filter`: those after `Last-Event-ID` or `since`, or only new ones without both.',
      querystring: StreamQuery,
      response: { 200: EventStream },
    },
    config: {
      access: 'session',
      hasNoHandlerTimer: true,
      problems: ['validation_failed', 'too_many_streams', 'shutting_down'],
    },
    async handler(request, reply) {
      await sendStream(request, reply, { notifications, streams });
      return reply;
    },
  });
}
