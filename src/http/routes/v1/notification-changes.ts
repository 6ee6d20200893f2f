import { Type } from 'typebox';
import { Changes } from '../../../contract/changes.js';
import { ListQuery } from '../../../contract/common.js';
import { collectFilter } from '../../../lib/filter/parse.js';
import { type FieldError, throwIfErrors } from '../../../lib/problem.js';
import { type ChangesQuery, parsePosition } from '../../../notifications/inbox/changes.js';
import type { Notifications } from '../../../notifications/notifications.js';
import type { QueryParameters } from '../../lists/list-query.js';
import { type App, sessionOf } from '../../requests/route.js';

const limits = { min: 1, max: 1000, usual: 100 };

const Query = Type.Object({
  after: Type.Optional(
    Type.String({ description: 'The `after` of the last response. Missing or 0: all changes from the start.' }),
  ),
  limit: Type.Optional(
    Type.Unsafe<string>({
      type: 'integer',
      minimum: limits.min,
      maximum: limits.max,
      default: limits.usual,
      description: 'The maximum number of changes.',
    }),
  ),
  filter: ListQuery(['created_at'], 'notification_type:payment').properties.filter,
});

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
      tags: ['Notifications'],
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
  const readParameter = (field: 'after' | 'limit' | 'filter') => {
    const value = query[field];
    if (value !== undefined && typeof value !== 'string') errors.push({ field, code: 'repeated_parameter' });
    return typeof value === 'string' ? value : undefined;
  };
  const position = parsePosition(readParameter('after') ?? '0');
  if (position === undefined) errors.push({ field: 'after', code: 'invalid_format' });

  const limitText = readParameter('limit') ?? `${limits.usual}`;
  const limit = /^[1-9]\d{0,3}$/.test(limitText) ? Number(limitText) : Number.NaN;
  if (!(limit <= limits.max)) errors.push({ field: 'limit', code: 'invalid_limit', params: limits });

  const filterText = readParameter('filter');
  const filter = filterText === undefined ? [] : collectFilter(filterText, filterFields, errors);
  throwIfErrors(errors);
  // The default satisfies the compiler: a missing position has caused an error.
  return { ...(position ?? { after: 0 }), limit, filter };
}
