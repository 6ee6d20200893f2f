import type { Core } from '../core.js';
import { ForeignAnswerError, isPosternError, isProblem } from '../errors.js';
import { isHidden, onAbort, onPageEvent, throwIfAborted, wait } from '../platform.js';
import { startTimer, stopwatch } from '../time.js';
import { readEvents, type ServerEvent } from './events.js';
import { filterText } from './filter.js';
import { type PollProgress, poll } from './polling.js';
import type { Connection, LiveQuery, StatefulInboxEvent } from './types.js';

/** The time limit for the first line of a stream, in milliseconds. */
const openingMs = 6000;
/** A stream that lasts this long, in milliseconds, is stable. After an unstable stream, the client polls once. */
const stableMs = 30_000;
/** The pause between two polls in milliseconds, if there is no stream. */
export const pollPauseMs = 15_000;

/** The longest pause between streams that got no answer, in milliseconds. */
const maxSilentPauseMs = 300_000;
/**
 * The pause after a number of streams in a row without an answer, in milliseconds. A service worker that waits for the end of a response
 * can keep the connection of each for minutes, and over HTTP/1.1 a browser has only six connections.
 */
const pauseAfterSilence = (openings: number) =>
  openings && Math.min(pollPauseMs * 4 ** (openings - 1), maxSilentPauseMs);

/** The parts of a client that a stream uses. */
export type StreamCore = Pick<Core, 'raw' | 'call' | 'onResume' | 'onClose'>;

/**
 * The pause in milliseconds after a number of failures in a row. It is random, so that clients that lost the same instance do not
 * connect at the same moment.
 */
export const pauseAfter = (failures: number) => Math.min(2000 * 2 ** failures, 15_000) * (0.5 + Math.random() / 2);

/**
 * Whether to retry after an error. True for a lost connection, an answer of a proxy or a temporary problem. False for a wrong filter, a
 * sign-out or a mistake in the program.
 */
export function canPass(error: unknown): boolean {
  if (isProblem(error)) return error.status >= 500 || [401, 408, 429].includes(error.status);
  return !isPosternError(error) || error.kind === 'network' || error.kind === 'foreign_answer';
}

/**
 * Follows an inbox. It connects again by itself, and polls while no stream can be opened and in tabs that the user does not see. It ends
 * when the signal aborts, or the loop or the login ends.
 *
 * @param given the position to start from, which this function updates. By default, it starts at `query.after`
 */
export async function* follow(
  core: StreamCore,
  { signal, ...query }: LiveQuery,
  polls: boolean,
  given?: PollProgress,
): AsyncGenerator<StatefulInboxEvent> {
  // Not a default value of the parameter: compilers for older JavaScript read `query` only after it.
  const progress = given ?? { position: query.after };
  const ended = new AbortController();
  const end = () => ended.abort();
  const removeListeners = [core.onClose(end), onAbort(signal, end)];
  // Failures are unstable streams. Silent openings are streams without any answer.
  let failures = 0;
  let silentOpenings = 0;
  let sinceSilence = stopwatch();
  let isResumed = false;
  const onResume: StreamCore['onResume'] = (wake) =>
    core.onResume(() => {
      isResumed = true;
      wake();
    });
  let shown: Connection | undefined;
  function* withoutRepetition(event: StatefulInboxEvent) {
    if (event.type !== 'connection' || event.connection !== shown) yield event;
    if (event.type === 'connection') shown = event.connection;
  }
  yield* withoutRepetition({ type: 'connection', connection: 'connecting' });
  try {
    while (!ended.signal.aborted) {
      const wasHidden = isHidden();
      const isPaused = !isResumed && sinceSilence() < pauseAfterSilence(silentOpenings);
      const mayStream = !polls && !wasHidden && !isPaused;
      isResumed = false;
      let pause = pollPauseMs;
      let isStable = false;
      try {
        const lifetime = stopwatch();
        if (mayStream) {
          let isSilent = true;
          for await (const event of streamOf(core, query, progress, ended.signal)) {
            isSilent = false;
            yield* withoutRepetition(event);
          }
          isStable = lifetime() >= stableMs;
          silentOpenings = isSilent && lifetime() >= openingMs ? silentOpenings + 1 : 0;
          sinceSilence = stopwatch();
        }
        if (ended.signal.aborted) break;
        failures = isStable ? 0 : failures + 1;
        if (isStable) yield* withoutRepetition({ type: 'connection', connection: 'connecting' });
        else {
          for await (const event of poll(core, progress, { ...query, signal: ended.signal }))
            yield* withoutRepetition(event);
        }
        // If a proxy has held the stream back for long, the pause is short, so that news does not wait even longer.
        if (mayStream) pause = pauseAfter(lifetime() > openingMs * 2 ? 0 : failures);
        // The user came to the tab during the poll: open a stream at once.
        else if (!polls && wasHidden && !isHidden()) continue;
      } catch (error) {
        if (ended.signal.aborted) break;
        if (isPosternError(error) && error.kind === 'signed_out') return;
        if (!canPass(error)) throw error;
        yield* withoutRepetition({ type: 'connection', connection: 'offline' });
        pause = pauseAfter(failures);
      }
      await wait(pause, ended.signal, onResume);
    }
    throwIfAborted(signal);
  } finally {
    for (const removeListener of removeListeners) removeListener();
    end();
  }
}

/**
 * The events of one stream. It ends with the connection, and when the user leaves the tab: a browser has few connections for each server.
 * @throws PosternError only if nobody is signed in, or the program is wrong
 */
async function* streamOf(
  core: StreamCore,
  { filter, include }: LiveQuery,
  progress: PollProgress,
  ended: AbortSignal,
): AsyncGenerator<StatefulInboxEvent> {
  // Each connection has its own signal, so that no listener of a lost connection stays.
  const connection = new AbortController();
  const close = () => connection.abort();
  const removeListeners = [onAbort(ended, close), onPageEvent('visibilitychange', () => isHidden() && close())];
  const timer = startTimer(close, openingMs);
  try {
    const headers = {
      accept: 'text/event-stream',
      ...(progress.position !== undefined && { 'last-event-id': progress.position }),
    };
    const path = '/v1/notifications/stream';
    const query = { filter: filterText(filter), include };
    const answer = await core.raw({ path, query, headers, signal: connection.signal });
    // A proxy may answer with a page of its own, and some platforms have no streams.
    const isStream = /^text\/event-stream\b/.test(answer.headers.get('content-type') ?? '');
    if (!isStream || !answer.body) throw new ForeignAnswerError(answer.status);
    for await (const event of readEvents(answer.body, connection.signal)) {
      clearTimeout(timer);
      // The first block has the position to continue from.
      if (event.id !== undefined) progress.position = event.id;
      yield { type: 'connection', connection: 'live' };
      const inboxEvent = toInboxEvent(event);
      if (inboxEvent !== undefined) yield inboxEvent;
    }
  } catch (error) {
    if (isPosternError(error) && (error.kind === 'signed_out' || error.kind === 'usage')) throw error;
  } finally {
    clearTimeout(timer);
    for (const removeListener of removeListeners) removeListener();
    close();
  }
}

/** Undefined for events of a newer service, and for events that need no reaction. */
function toInboxEvent({ event, data, id = '' }: ServerEvent): StatefulInboxEvent | undefined {
  if (data === '' || !['message', 'deleted', 'marker', 'state', 'reset'].includes(event)) return undefined;
  const value = JSON.parse(data);
  if (event === 'message') return { type: 'put', notification: value, position: id };
  if (event === 'deleted') return { type: 'delete', id: value.id, sequence: value.sequence, position: id };
  if (event === 'marker') return { type: event, marker: value };
  if (event === 'state') return { type: event, states: value };
  return { type: 'reset', position: id };
}
