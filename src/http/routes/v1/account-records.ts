import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Activity, type OwnEvent, ownEventFilterFields } from '../../../authentication/events/activity.js';
import { activityText } from '../../../authentication/events/activity-texts.js';
import type { Exports } from '../../../authentication/users/export.js';
import { ActivityEntry } from '../../../contract/account.js';
import { ListQuery } from '../../../contract/common.js';
import { preferredLanguage, say } from '../../../lib/language.js';
import { readListQuery, sendPage } from '../../admin-list.js';
import { exportSchema, sendExport } from '../../export-answer.js';
import { type App, sessionOf } from '../../route.js';

const sortable = ['created_at'] as const;

/** What is on record of one's own account. */
export function accountRecordRoutes(app: App, { activity, exports }: { activity: Activity; exports: Exports }): void {
  app.route({
    method: 'GET',
    url: '/v1/account/activity',
    schema: {
      operationId: 'listActivity',
      summary: "List what happened to one's own account",
      tags: ['Account'],
      querystring: ListQuery(sortable, 'type:in:login.approved;login.rejected'),
      response: { 200: Type.Array(ActivityEntry, { description: 'Newest first unless sorted otherwise.' }) },
    },
    config: { access: 'session' },
    async handler(request, reply) {
      const query = readListQuery(request.query, sortable, ownEventFilterFields);
      const page = await activity.ofOneself(sessionOf(request).user_id, query);
      const items = page.items.map((event) => toEntry(event, request));
      return sendPage(reply, '/v1/account/activity', query, { ...page, items });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/account/export',
    schema: {
      operationId: 'exportAccount',
      summary: 'Download everything that is stored of oneself',
      description: 'One JSON file of any size. A connection that breaks off before its end has not brought all of it.',
      tags: ['Account'],
      response: { 200: exportSchema },
    },
    config: { access: 'session', isBounded: true, problems: ['not_found', 'too_many_requests'] },
    async handler(request, reply) {
      await sendExport(request, reply, exports, sessionOf(request).user_id);
    },
  });
}

function toEntry({ params, ...event }: OwnEvent, request: FastifyRequest): ActivityEntry {
  const language = preferredLanguage(request.headers['accept-language']);
  return { ...event, text: say(activityText(event.type), language, params) };
}
