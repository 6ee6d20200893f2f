import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseFaults } from '../../../lib/problem.js';
import type { Notifications } from '../../../notifications/notifications.js';
import type { StreamStart } from '../../../notifications/stream/queries.js';
import type { Streams } from '../../../notifications/stream/streams.js';
import { type ListQuery, parseListQuery, type QueryParameters } from '../../list-query.js';
import { sessionOf } from '../../route.js';

/** Of a list's parameters those that mean something to a stream; the others are ignored, right or wrong. */
function readStreamQuery(query: QueryParameters, { filterFields }: Notifications) {
  const { filter, sort, since } = query;
  return parseListQuery(
    { filter, sort, since },
    {
      sortable: ['created_at', 'updated_at'],
      defaultSort: [{ field: 'created_at', direction: 'desc' }],
      filterFields,
      maxLimit: 1,
      defaultLimit: 1,
    },
  );
}

/** Seconds that a connection may be silent before the kernel asks whether the other end is still there. */
const keepAlive = 30_000;

/** Answers with a stream of events instead of a list; it lasts as long as the session. */
export async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { notifications, streams }: { notifications: Notifications; streams: Streams },
): Promise<FastifyReply> {
  const { id: sessionId, user_id: userId } = sessionOf(request);
  const { filter, ...query } = readStreamQuery(request.query as QueryParameters, notifications);
  const start = startOf(request.headers['last-event-id'], query);
  const connect = () => {
    reply.hijack();
    const { raw } = reply;
    // Not in chunks, of which WHATWG HTML warns (section 9.2.7): an event is one write to the socket then, a third less
    // work. The stream ends with its connection (RFC 9112, section 6.3), and no client waits for more.
    raw.useChunkedEncodingByDefault = false;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      // A proxy must not transform it, and one of the nginx kind must not collect it.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    raw.socket?.setNoDelay(true).setKeepAlive(true, keepAlive).setTimeout(0);
    return raw;
  };
  await streams.open({ userId, sessionId, start, filter, connect });
  return reply;
}

/** @throws Problem `validation_failed` */
function startOf(
  lastEventId: string | string[] | undefined,
  { since, sort }: Pick<ListQuery<'created_at' | 'updated_at'>, 'since' | 'sort'>,
): StreamStart {
  if (lastEventId !== undefined && lastEventId !== '') {
    if (typeof lastEventId === 'string' && /^\d{1,15}$/.test(lastEventId)) return { lastEventId: Number(lastEventId) };
    refuseFaults([{ field: 'Last-Event-ID', code: 'invalid_format' }]);
  }
  return since === undefined ? 'now' : { since, by: sort[0]?.field ?? 'created_at' };
}
