import type { FastifyReply, FastifyRequest } from 'fastify';
import { type FieldError, throwIfErrors } from '../../../lib/problem.js';
import type { Notifications } from '../../../notifications/notifications.js';
import type { StreamStart } from '../../../notifications/stream/queries.js';
import type { Streams } from '../../../notifications/stream/streams.js';
import { readInclude } from '../../lists/include-query.js';
import { type ListQuery, parseListQuery, type QueryParameters } from '../../lists/list-query.js';
import { connectEventStream } from '../../requests/event-stream.js';
import { sessionOf } from '../../requests/route.js';

/** Parses the list parameters that apply to a stream. All others are ignored, even if they are invalid. */
function readStreamQuery(query: QueryParameters, { filterFields }: Notifications) {
  const { filter, sort, since } = query;
  return parseListQuery({ filter, sort, since }, { sortable: ['created_at', 'updated_at'], filterFields });
}

/** Sends a stream of server-sent events. It ends with the session. */
export async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { notifications, streams }: { notifications: Notifications; streams: Streams },
): Promise<FastifyReply> {
  const { id: sessionId, user_id: userId } = sessionOf(request);
  const { filter, ...query } = readStreamQuery(request.query as QueryParameters, notifications);
  const errors: FieldError[] = [];
  const includesExtra = readInclude(request.query as QueryParameters, errors);
  throwIfErrors(errors);
  const start = startOf(request.headers['last-event-id'], query);
  const connect = () => connectEventStream(reply);
  await streams.open({ userId, sessionId, start, filter, includesExtra, connect });
  return reply;
}

/** @throws Problem `validation_failed` */
function startOf(
  lastEventId: string | string[] | undefined,
  { since, sort }: Pick<ListQuery<'created_at' | 'updated_at'>, 'since' | 'sort'>,
): StreamStart {
  if (lastEventId !== undefined && lastEventId !== '') {
    if (typeof lastEventId === 'string' && /^\d{1,15}$/.test(lastEventId)) return { lastEventId: Number(lastEventId) };
    throwIfErrors([{ field: 'Last-Event-ID', code: 'invalid_format' }]);
  }
  return since === undefined ? 'now' : { since, by: sort[0]?.field ?? 'created_at' };
}
