import type { FastifyRequest } from 'fastify';
import { ActivityEntry } from '../../../../contract/account/activity.js';
import { formatText, preferredLanguage } from '../../../../lib/language.js';
import { type Activity, type OwnEvent, ownEventFilterFields } from '../../../../users/activity.js';
import { activityText } from '../../../../users/activity-texts.js';
import type { Exports } from '../../../../users/export.js';
import { listRoutes } from '../../../lists/list-routes.js';
import { exportSchema, sendExport } from '../../../requests/export-answer.js';
import { type App, sessionOf } from '../../../requests/route.js';

/** Routes for the events and the export of the caller's account. */
export function accountRecordRoutes(app: App, { activity, exports }: { activity: Activity; exports: Exports }): void {
  listRoutes(app, {
    url: '/v1/account/activity',
    operationIds: ['listActivity', 'getActivityPage'],
    summary: 'List events of your account',
    access: 'session',
    item: ActivityEntry,
    pageTitle: 'ActivityEntryPage',
    sortable: ['created_at'],
    filterFields: ownEventFilterFields,
    filterExample: 'type:in:login.approved;login.rejected',
    async read(query, request) {
      const page = await activity.listOwn(sessionOf(request).user_id, query);
      return { ...page, items: page.items.map((event) => toEntry(event, request)) };
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/account/export',
    schema: {
      operationId: 'exportAccount',
      summary: 'Download all your data',
      description: 'One JSON file of any size. If the connection ends before the last byte, the file is incomplete.',
      response: { 200: exportSchema },
    },
    // No handler timer: `sendExport` ends the request if the client stops reading.
    config: { access: 'session', hasNoHandlerTimer: true, problems: ['not_found', 'too_many_requests'] },
    async handler(request, reply) {
      await sendExport(request, reply, exports, sessionOf(request).user_id);
    },
  });
}

function toEntry(event: OwnEvent, request: FastifyRequest): ActivityEntry {
  const language = preferredLanguage(request.headers['accept-language']);
  return { ...event, text: formatText(activityText(event.type), language, event.params) };
}
