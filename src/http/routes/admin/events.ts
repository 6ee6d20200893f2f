import { Type } from 'typebox';
import { type Activity, eventFilterFields } from '../../../authentication/events/activity.js';
import { Event } from '../../../contract/administration.js';
import { ListQuery } from '../../../contract/common.js';
import { readListQuery, sendPage } from '../../admin-list.js';
import type { QueryParameters } from '../../list-query.js';
import type { App } from '../../route.js';

const sortable = ['created_at'] as const;
const readQuery = (query: QueryParameters) => readListQuery(query, sortable, eventFilterFields);

/** The audit trail. It shows what other operators and keys did, so it takes more than reading users. */
export function adminEventRoutes(app: App, { activity }: { activity: Activity }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/events',
    schema: {
      operationId: 'listEvents',
      summary: 'List audit events',
      description: 'What happened to every account, deleted ones included, and to the keys.',
      tags: ['Administration'],
      querystring: ListQuery(sortable, 'type:user.locked'),
      response: { 200: Type.Array(Event, { description: 'Newest first unless sorted otherwise.' }) },
    },
    config: { access: { scope: 'admin' }, checkQuery: readQuery },
    async handler(request, reply) {
      const query = readQuery(request.query);
      return sendPage(reply, '/admin/v1/events', query, await activity.list(query));
    },
  });
}
