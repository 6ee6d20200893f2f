import type { Core } from '../core.js';
import { isPosternError, isProblem } from '../errors.js';
import { type Abortable, wait } from '../platform.js';
import type { Changes, Marker } from '../wire.js';
import { readEvents, type ServerEvent } from './events.js';
import { filterText, type NotificationFilter } from './filter.js';
import type { Notification } from './notification.js';

/** `polling`: the platform cannot read a body while it arrives, so the client asks for changes again and again. */
export type Connection = 'connecting' | 'live' | 'polling' | 'offline';

/** What happens in an inbox. Pass `position` as `after` to continue there, today or tomorrow. */
export type InboxEvent =
  /** A notification was created or changed: store it by its id. */
  | { readonly type: 'put'; readonly notification: Notification; readonly position: string }
  | { readonly type: 'delete'; readonly id: string; readonly sequence: number; readonly position: string }
  | { readonly type: 'marker'; readonly marker: Marker }
  /** Away for too long: discard your copy and list again. */
  | { readonly type: 'reset'; readonly position: string }
  | { readonly type: 'connection'; readonly connection: Connection };

export interface LiveQuery extends Abortable {
  /** The position to continue from. By default, now. */
  readonly after?: string | undefined;
  readonly filter?: NotificationFilter | undefined;
}

/** Milliseconds between two connections that fail: the first pause and the longest one. */
const [firstPause, longestPause] = [1000, 30_000];
/** Milliseconds between two questions where streams do not work. */
const pollPause = 15_000;

/** The changes after a position, up to now. @param limit changes of each request */
export async function* changesOf(
  core: Core,
  { after, filter, signal, limit }: LiveQuery & { readonly limit?: number | undefined },
): AsyncGenerator<InboxEvent & { readonly position: string }> {
  let position = after;
  for (;;) {
    const query = { after: position, filter: filterText(filter), limit };
    const page: Changes = await core.call<Changes>({ path: '/v1/notifications/changes', query, signal });
    if (page.reset) {
      position = undefined;
      yield { type: 'reset', position: '0' };
      continue;
    }
    for (const { id, sequence, notification, change_sequence } of page.changes) {
      const at = { position: `${change_sequence}` };
      yield notification === null
        ? { type: 'delete', id, sequence, ...at }
        : { type: 'put', notification: notification as Notification, ...at };
    }
    position = page.after;
    if (!page.has_more) return;
  }
}

/** Follows an inbox. It connects again by itself, and ends with the signal, the loop or the login. */
export async function* follow(
  core: Core,
  { after, filter, signal }: LiveQuery,
  poll: boolean,
): AsyncGenerator<InboxEvent> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const offClose = core.onClose(end);
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  let position = after;
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
        const headers = { accept: 'text/event-stream', ...(position !== undefined && { 'last-event-id': position }) };
        const request = {
          path: '/v1/notifications/stream',
          query: { filter: filterText(filter) },
          headers,
          signal: connection.signal,
          streams: true,
        };
        const body = poll ? null : (await core.raw(request)).body;
        if (body === null) {
          position ??= await headOf(core, ended.signal);
          yield { type: 'connection', connection: 'polling' };
          for await (const event of changesOf(core, { after: position, filter, signal: ended.signal })) {
            position = event.position;
            yield event;
          }
          await pauseFor(core, pollPause, ended.signal);
          continue;
        }
        for await (const event of readEvents(body)) {
          // The first block has the position to continue from.
          if (event.id !== undefined) position = event.id;
          if (!isOpen) yield { type: 'connection', connection: 'live' };
          isOpen = true;
          const happened = toInboxEvent(event);
          if (happened !== undefined) yield happened;
        }
      } catch (error) {
        if (ended.signal.aborted) break;
        if (isPosternError(error) && (error.kind === 'signed_out' || error.kind === 'usage')) return;
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

/** The newest position: where a client starts that polls from now on. */
async function headOf(core: Core, signal: AbortSignal): Promise<string> {
  let position = '0';
  for await (const event of changesOf(core, { limit: 1000, signal })) position = event.position;
  return position;
}

/** Waits, but not longer than until the app comes to the foreground. */
async function pauseFor(core: Core, milliseconds: number, signal: AbortSignal): Promise<void> {
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
  if (data === '') return undefined;
  const read = JSON.parse(data);
  if (event === 'message') return { type: 'put', notification: read, position: id };
  if (event === 'deleted') return { type: 'delete', id: read.id, sequence: read.sequence, position: id };
  if (event === 'marker') return { type: 'marker', marker: read };
  return event === 'reset' ? { type: 'reset', position: id } : undefined;
}
