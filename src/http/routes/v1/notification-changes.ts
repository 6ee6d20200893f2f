import { Type } from 'typebox';
import { Changes } from '../../../contract/changes.js';
import { ListQuery } from '../../../contract/common.js';
import { collectFilter } from '../../../lib/filter/parse.js';
import { type FieldError, throwIfErrors } from '../../../lib/problem.js';
import type { ChangesQuery } from '../../../notifications/inbox/changes.js';
import type { Notifications } from '../../../notifications/notifications.js';
import { includeParameter, readInclude } from '../../lists/include-query.js';
import type { QueryParameters } from '../../lists/list-query.js';
import { parsePositionQuery, positionParameters, singleParameter } from '../../lists/position-query.js';
import { type App, sessionOf } from '../../requests/route.js';

const { filter } = ListQuery(['created_at'], 'notification_type:payment').properties;
const Query = Type.Object({ ...positionParameters, filter, include: includeParameter });

/** A route that lists the changes of an inbox since the last request of a client. */
export function changesRoutes(app: App, { notifications }: { notifications: Notifications }): void {
  app.route({
    method: 'GET',
    url: '/v1/notifications/changes',
    schema: {
      operationId: 'listChanges',
      summary: 'List changes',
      description:
        'For clients that keep a copy of the inbox. Changes come in the order in which they happened, each notification once, in its current state. Store created and updated notifications under their id, remove deleted ones, store `after`, and repeat while `has_more` is true. If `reset` is true, delete the copy and start without `after`.',
      querystring: Query,
      response: { 200: { ...Changes, description: 'The changes, oldest first.' } },
    },
    config: { access: 'session', problems: ['validation_failed', 'too_many_requests'] },
    async handler(request, reply) {
      const query = readQuery(request.query, notifications);
      return reply.send(await notifications.changes(sessionOf(request).user_id, query));
    },
  });
}

/** @throws Problem `validation_failed` with all invalid parameters */
function readQuery(query: QueryParameters, { filterFields }: Notifications): ChangesQuery {
  const errors: FieldError[] = [];
  const { first: after, second: begunAt, limit } = parsePositionQuery(query, errors);
  const filterText = singleParameter(query, 'filter', errors);
  const filter = filterText === undefined ? [] : collectFilter(filterText, filterFields, errors);
  const includesExtra = readInclude(query, errors);
  throwIfErrors(errors);
  return { after, ...(begunAt !== undefined && { begunAt }), limit, filter, includesExtra };
}
