import type { Core } from '../core.js';
import { isPosternError, isProblem } from '../errors.js';
import { throwIfAborted, wait } from '../platform.js';
import { readEvents, type ServerEvent } from './events.js';
import { filterText } from './filter.js';
import { poll } from './polling.js';
import type { InboxEvent, LiveQuery } from './types.js';

/** The first and the longest pause between two connections that fail. */
const [firstPauseMs, longestPauseMs] = [1000, 30_000];
/** The pause between two polls, where streams do not work. */
const pollPauseMs = 15_000;

/** The parts of a client that a stream uses. */
export type StreamCore = Pick<Core, 'raw' | 'call' | 'onResume' | 'onClose'>;

/**
 * Follows an inbox. It connects again by itself. It ends when the signal aborts, or the loop or the login ends.
 *
 * @param progress the last position, which the stream updates
 */
export async function* follow(
  core: StreamCore,
  { after, filter, signal }: LiveQuery,
  polls: boolean,
  progress: { position: string | undefined } = { position: after },
): AsyncGenerator<InboxEvent> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const removeCloseListener = core.onClose(end);
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  let failures = 0;
  try {
    while (!ended.signal.aborted) {
      let isOpen = false;
      // Each connection has its own signal, so that no listener of a lost connection stays.
      const connection = new AbortController();
      const closeConnection = () => connection.abort();
      ended.signal.addEventListener('abort', closeConnection);
      yield { type: 'connection', connection: 'connecting' };
      try {
        const headers = {
          accept: 'text/event-stream',
          ...(progress.position !== undefined && { 'last-event-id': progress.position }),
        };
        const request = {
          path: '/v1/notifications/stream',
          query: { filter: filterText(filter) },
          headers,
          signal: connection.signal,
          streams: true,
        };
        const body = polls ? null : (await core.raw(request)).body;
        // Answers of React Native's own `fetch` have no body.
        if (!body) {
          yield* poll(core, progress, { filter, signal: ended.signal });
          await pauseFor(core, pollPauseMs, ended.signal);
          continue;
        }
        for await (const event of readEvents(body)) {
          // The first block has the position to continue from.
          if (event.id !== undefined) progress.position = event.id;
          if (!isOpen) yield { type: 'connection', connection: 'live' };
          isOpen = true;
          const inboxEvent = toInboxEvent(event);
          if (inboxEvent !== undefined) yield inboxEvent;
        }
      } catch (error) {
        if (ended.signal.aborted) break;
        if (isPosternError(error) && error.kind === 'signed_out') return;
        if (isPosternError(error) && error.kind === 'usage') throw error;
        if (isProblem(error) && error.status < 500 && error.status !== 429 && error.status !== 401) throw error;
      } finally {
        ended.signal.removeEventListener('abort', closeConnection);
        closeConnection();
      }
      if (!isOpen) yield { type: 'connection', connection: 'offline' };
      failures = isOpen ? 0 : failures + 1;
      // Random, so that clients that lost the same instance do not connect at the same moment.
      const pause = Math.min(firstPauseMs * 2 ** failures, longestPauseMs) * (0.5 + Math.random());
      await pauseFor(core, pause, ended.signal);
    }
    throwIfAborted(signal);
  } finally {
    removeCloseListener();
    signal?.removeEventListener('abort', end);
    end();
  }
}

/** Waits until the time is over, or until the app comes to the foreground. */
async function pauseFor(core: Pick<Core, 'onResume'>, milliseconds: number, signal: AbortSignal): Promise<void> {
  const woken = new AbortController();
  const wake = () => woken.abort();
  signal.addEventListener('abort', wake);
  const removeListener = core.onResume(wake);
  await wait(milliseconds, woken.signal);
  removeListener();
  signal.removeEventListener('abort', wake);
}

/** Undefined for events of a newer service, and for those that need no reaction. */
function toInboxEvent({ event, data, id = '' }: ServerEvent): InboxEvent | undefined {
  if (data === '' || !['message', 'deleted', 'marker', 'reset'].includes(event)) return undefined;
  const value = JSON.parse(data);
  if (event === 'message') return { type: 'put', notification: value, position: id };
  if (event === 'deleted') return { type: 'delete', id: value.id, sequence: value.sequence, position: id };
  if (event === 'marker') return { type: 'marker', marker: value };
  return { type: 'reset', position: id };
}
