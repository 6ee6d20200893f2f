import { Problem } from '../../../../lib/problem.js';
import type { Notifications } from '../../../../notifications/notifications.js';
import {
  arrayForm,
  envelopeForm,
  NotificationListQuery,
  notificationListResponses,
  readInboxQuery,
  type SendInbox,
} from '../../../lists/notification-list.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import type { App } from '../../../requests/route.js';

/** The routes that list the notifications of a user, in both forms. */
export function adminUserNotificationRoutes(
  app: App,
  { notifications, sendInbox }: { readonly notifications: Notifications; readonly sendInbox: SendInbox },
): void {
  const forms = [
    {
      pathSuffix: '',
      operationId: 'listUserNotifications',
      summarySuffix: '',
      form: arrayForm,
      isEnveloped: false,
    },
    {
      pathSuffix: '/page',
      operationId: 'getUserNotificationPage',
      summarySuffix: ' with an envelope',
      form: envelopeForm,
      isEnveloped: true,
    },
  ] as const;
  for (const { pathSuffix, operationId, summarySuffix, form, isEnveloped } of forms) {
    app.route({
      method: 'GET',
      url: `/admin/v1/users/:id/notifications${pathSuffix}`,
      schema: {
        operationId,
        summary: `List a user's notifications${summarySuffix}`,
        description: `The same response and parameters as GET /v1/notifications${pathSuffix} of the user.`,
        params: IdParams,
        querystring: NotificationListQuery,
        response: notificationListResponses,
      },
      config: {
        access: { scope: 'users:read' },
        problems: ['not_found'],
        countsExactly: true,
        document: form,
        checkQuery: (query) => readInboxQuery({ query, headers: {} }, notifications),
      },
      async handler(request, reply) {
        const id = pathId(request.params);
        const path = `/admin/v1/users/${id}/notifications${pathSuffix}`;
        const isSent = await sendInbox(request, reply, {
          list: notifications.list,
          userId: id,
          path,
          isEnveloped,
        });
        if (!isSent) throw new Problem('not_found');
        return reply;
      },
    });
  }
}
