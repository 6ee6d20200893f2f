import { Type } from 'typebox';
import { Changes } from '../../../contract/changes.js';
import { ListQuery } from '../../../contract/common.js';
import { collectFilter } from '../../../lib/filter/parse.js';
import { type FieldError, refuseFaults } from '../../../lib/problem.js';
import { type ChangesQuery, parsePosition } from '../../../notifications/changes.js';
import type { Notifications } from '../../../notifications/notifications.js';
import type { QueryParameters } from '../../list-query.js';
import { type App, sessionOf } from '../../route.js';

const limits = { min: 1, max: 1000, usual: 100 };

const Query = Type.Object({
  after: Type.Optional(
    Type.String({ description: 'The `after` of the last answer. Without it, or 0: everything from the start.' }),
  ),
  limit: Type.Optional(
    Type.Unsafe<string>({
      type: 'integer',
      minimum: limits.min,
      maximum: limits.max,
      default: limits.usual,
      description: 'Changes at most.',
    }),
  ),
  filter: ListQuery(['created_at'], 'notification_type:payment').properties.filter,
});

/** What has happened to an inbox since a client was last there. */
export function changesRoutes(app: App, { notifications }: { notifications: Notifications }): void {
  app.route({
    method: 'GET',
    url: '/v1/notifications/changes',
    schema: {
      operationId: 'listChanges',
      summary: 'List changes',
      description:
        'For clients that keep a copy. In the order in which they happened, each notification once, as it is now. Put creates and updates under their id, remove deletes, keep `after`, and ask again while `has_more`. After a `reset` forget everything and begin without `after`.',
      tags: ['Notifications'],
      querystring: Query,
      response: { 200: { ...Changes, description: 'What has happened since, oldest first.' } },
    },
    config: { access: 'session', problems: ['validation_failed', 'too_many_requests'] },
    async handler(request, reply) {
      const query = readQuery(request.query, notifications);
      return reply.send(await notifications.changes(sessionOf(request).user_id, query));
    },
  });
}

/** @throws Problem `validation_failed` that names every faulty parameter */
function readQuery(query: QueryParameters, { filterFields }: Notifications): ChangesQuery {
  const faults: FieldError[] = [];
  const given = (field: 'after' | 'limit' | 'filter') => {
    const value = query[field];
    if (value !== undefined && typeof value !== 'string') faults.push({ field, code: 'repeated_parameter' });
    return typeof value === 'string' ? value : undefined;
  };
  const position = parsePosition(given('after') ?? '0');
  if (position === undefined) faults.push({ field: 'after', code: 'invalid_format' });

  const limitText = given('limit') ?? `${limits.usual}`;
  const limit = /^[1-9]\d{0,3}$/.test(limitText) ? Number(limitText) : Number.NaN;
  if (!(limit <= limits.max)) faults.push({ field: 'limit', code: 'invalid_limit', params: limits });

  const filterText = given('filter');
  const filter = filterText === undefined ? [] : collectFilter(filterText, filterFields, faults);
  refuseFaults(faults);
  // The default is for the compiler: without a position there was a fault.
  return { ...(position ?? { after: 0 }), limit, filter };
}
