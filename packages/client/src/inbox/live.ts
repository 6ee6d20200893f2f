import type { Core } from '../core.js';
import { isPosternError, isProblem } from '../errors.js';
import { wait } from '../platform.js';
import { readEvents, type ServerEvent } from './events.js';
import { filterText } from './filter.js';
import { poll } from './polling.js';
import type { InboxEvent, LiveQuery } from './types.js';

/** Milliseconds between two connections that fail: the first pause and the longest one. */
const [firstPause, longestPause] = [1000, 30_000];
/** Milliseconds between two questions where streams do not work. */
const pollPause = 15_000;

/** What a stream needs of a client. */
export type StreamCore = Pick<Core, 'raw' | 'call' | 'onResume' | 'onClose'>;

/**
 * Follows an inbox. It connects again by itself, and ends with the signal, the loop or the login.
 *
 * @param at moves with the stream
 */
export async function* follow(
  core: StreamCore,
  { after, filter, signal }: LiveQuery,
  polls: boolean,
  at: { position: string | undefined } = { position: after },
): AsyncGenerator<InboxEvent> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const offClose = core.onClose(end);
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  let failures = 0;
  try {
    while (!ended.signal.aborted) {
      let isOpen = false;
      // A signal of its own for each connection, so that no listener of a lost one stays.
      const connection = new AbortController();
      const cut = () => connection.abort();
      ended.signal.addEventListener('abort', cut);
      yield { type: 'connection', connection: 'connecting' };
      try {
        const headers = {
          accept: 'text/event-stream',
          ...(at.position !== undefined && { 'last-event-id': at.position }),
        };
        const request = {
          path: '/v1/notifications/stream',
          query: { filter: filterText(filter) },
          headers,
          signal: connection.signal,
          streams: true,
        };
        const body = polls ? null : (await core.raw(request)).body;
        if (body === null) {
          yield* poll(core, at, { filter, signal: ended.signal });
          await pauseFor(core, pollPause, ended.signal);
          continue;
        }
        for await (const event of readEvents(body)) {
          // The first block has the position to continue from.
          if (event.id !== undefined) at.position = event.id;
          if (!isOpen) yield { type: 'connection', connection: 'live' };
          isOpen = true;
          const happened = toInboxEvent(event);
          if (happened !== undefined) yield happened;
        }
      } catch (error) {
        if (ended.signal.aborted) break;
        if (isPosternError(error) && error.kind === 'signed_out') return;
        if (isPosternError(error) && error.kind === 'usage') throw error;
        if (isProblem(error) && error.status < 500 && error.status !== 429 && error.status !== 401) throw error;
      } finally {
        ended.signal.removeEventListener('abort', cut);
        cut();
      }
      if (!isOpen) yield { type: 'connection', connection: 'offline' };
      failures = isOpen ? 0 : failures + 1;
      // Spread, so that clients that lost the same instance do not return in the same moment.
      const pause = Math.min(firstPause * 2 ** failures, longestPause) * (0.5 + Math.random());
      await pauseFor(core, pause, ended.signal);
    }
    signal?.throwIfAborted();
  } finally {
    offClose();
    signal?.removeEventListener('abort', end);
    end();
  }
}

/** Waits, but not longer than until the app comes to the foreground. */
async function pauseFor(core: Pick<Core, 'onResume'>, milliseconds: number, signal: AbortSignal): Promise<void> {
  const woken = new AbortController();
  const wake = () => woken.abort();
  signal.addEventListener('abort', wake);
  const off = core.onResume(wake);
  await wait(milliseconds, woken.signal);
  off();
  signal.removeEventListener('abort', wake);
}

/** Undefined for events of a newer service, and for those that need no reaction. */
function toInboxEvent({ event, data, id = '' }: ServerEvent): InboxEvent | undefined {
  if (data === '' || !['message', 'deleted', 'marker', 'reset'].includes(event)) return undefined;
  const read = JSON.parse(data);
  if (event === 'message') return { type: 'put', notification: read, position: id };
  if (event === 'deleted') return { type: 'delete', id: read.id, sequence: read.sequence, position: id };
  if (event === 'marker') return { type: 'marker', marker: read };
  return { type: 'reset', position: id };
}
