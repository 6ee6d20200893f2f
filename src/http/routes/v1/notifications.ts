import { Problem } from '../../../lib/problem.js';
import type { Notifications } from '../../../notifications/notifications.js';
import { NotificationListAnswers, NotificationListQuery, sendInbox } from '../../notification-list.js';
import { type App, sessionOf } from '../../route.js';

/** A user's own notifications. */
export function notificationRoutes(app: App, { notifications }: { notifications: Notifications }): void {
  app.route({
    method: 'GET',
    url: '/v1/notifications',
    schema: {
      operationId: 'listNotifications',
      summary: 'List notifications',
      description:
        'Newest first. Follow the links: then whatever arrives meanwhile, nothing is missed and nothing comes twice.',
      tags: ['Notifications'],
      querystring: NotificationListQuery,
      response: NotificationListAnswers,
    },
    config: { access: 'session' },
    async handler(request, reply) {
      const { user_id: userId } = sessionOf(request);
      const isSent = await sendInbox(request, reply, { notifications, userId, path: '/v1/notifications' });
      // The user was deleted since the session was checked, and the session with the user.
      if (!isSent) throw new Problem('invalid_session_token');
      return reply;
    },
  });
}
