import type { FastifyReply, FastifyRequest } from 'fastify';
import { throwIfErrors } from '../../../lib/problem.js';
import type { Notifications } from '../../../notifications/notifications.js';
import type { StreamStart } from '../../../notifications/stream/queries.js';
import type { Streams } from '../../../notifications/stream/streams.js';
import { type ListQuery, parseListQuery, type QueryParameters } from '../../lists/list-query.js';
import { sessionOf } from '../../requests/route.js';

/** Parses the list parameters that apply to a stream. All others are ignored, even if they are invalid. */
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

/** The time without data, in milliseconds, after which the kernel sends TCP keep-alive probes. */
const keepAliveMs = 30_000;

/** Sends a stream of server-sent events. It ends with the session. */
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
    // No chunked encoding: WHATWG HTML, 9.2.7, warns of it, and one write for each event costs a third less. The end of
    // the connection ends the stream (RFC 9112, 6.3).
    raw.useChunkedEncodingByDefault = false;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      // Proxies must neither transform nor buffer the stream; nginx reads x-accel-buffering.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    raw.socket?.setNoDelay(true).setKeepAlive(true, keepAliveMs).setTimeout(0);
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
    throwIfErrors([{ field: 'Last-Event-ID', code: 'invalid_format' }]);
  }
  return since === undefined ? 'now' : { since, by: sort[0]?.field ?? 'created_at' };
}
