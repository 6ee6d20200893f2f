import type { Core } from '../../core.js';
import { onAbort, wait } from '../../platform.js';
import { startTimer } from '../../time.js';
import type { InboxStates } from '../../wire.js';
import { canPass, pauseAfter, pollPauseMs } from '../live.js';
import { afterTheEnd } from '../polling.js';
import type { InboxEvent, StatefulInboxEvent } from '../types.js';
import { isSnoozed, partOf, stateAfter } from './apply-states.js';
import { coalesced } from './coalesced.js';
import type { ItemStates, ItemsPart, StatefulNotification } from './types.js';

/** The longest time of a timer in milliseconds. */
export const maxTimerMs = 2 ** 31 - 1;

interface Update {
  readonly states: InboxStates;
  readonly from: InboxStates;
  readonly onApplied: () => void;
}
type QueueItem = InboxEvent | Update | { readonly error: unknown } | 'end';

export interface FollowerOptions {
  readonly core: Pick<Core, 'onError' | 'onResume'>;
  readonly states: ItemStates;
  /** The rows that are shown, and whether there are more. */
  rows(): { readonly items: readonly StatefulNotification[]; readonly hasMore: boolean };
  part(): ItemsPart;
  /** Reads the counts. */
  count(): Promise<void>;
}

const versionOf = ({ after }: InboxStates) => Number.parseInt(after, 10);
const readAgain: InboxEvent = { type: 'reset', position: '0' };

/** Follows the states of an inbox, and turns their changes into changes of rows. */
export function createFollower({ core, states, rows, part, count }: FollowerOptions) {
  let push: ((item: QueueItem) => void) | undefined;
  /** The last answer about states. Undefined before the first one of a stream. */
  let known: InboxStates | undefined;
  /** When the snoozes of the user end. Nothing is sent then. */
  let snoozes = new Map<string, number>();
  let snoozeTimer: ReturnType<typeof setTimeout> | undefined;
  const recount = () => void count().catch(core.onError);

  /** Takes an answer, unless a later one was first. Resolves when the rows show it. */
  function take(next: InboxStates): Promise<void> | undefined {
    const from = known;
    if (from === undefined || push === undefined || versionOf(next) < versionOf(from)) return undefined;
    known = next;
    for (const state of next.states) {
      if (isSnoozed(state, Date.now())) snoozes.set(state.id, Date.parse(state.snoozed_until ?? ''));
      else snoozes.delete(state.id);
    }
    setSnoozeTimer();
    return new Promise((onApplied) => push?.({ states: next, from, onApplied }));
  }

  /** Begins with the present position: the rows have their states when they are read. */
  async function begin(): Promise<void> {
    const owner = push;
    const [next, snoozed] = await Promise.all([
      states.changes(afterTheEnd),
      states.list({ view: 'snoozed', limit: 100 }).page(),
    ]);
    // Another user may have signed in.
    if (push !== owner) return;
    known = { ...next, states: [], reset: false };
    const endOf = ({ id, extra }: StatefulNotification) => [id, Date.parse(extra.state.snoozed_until ?? '')] as const;
    snoozes = new Map(snoozed.data.map(endOf));
    setSnoozeTimer();
  }
  const sync = coalesced(async () => {
    const owner = push;
    while (owner !== undefined) {
      if (known === undefined) return begin();
      const next: InboxStates = await states.changes(known.after);
      if (push !== owner) return;
      if (next.reset) {
        await begin();
        push?.(readAgain);
        return;
      }
      const isTaken = take(next);
      if (isTaken === undefined || !next.has_more) return isTaken;
    }
  });

  function setSnoozeTimer(): void {
    clearTimeout(snoozeTimer);
    if (snoozes.size === 0 || push === undefined) return;
    // A second later, because the clocks of the service and of this device differ.
    const end = Math.min(...snoozes.values()) + 1000;
    snoozeTimer = startTimer(
      () => {
        for (const [id, time] of snoozes) if (time + 1000 <= Date.now()) snoozes.delete(id);
        setSnoozeTimer();
        push?.(readAgain);
      },
      Math.min(maxTimerMs, Math.max(0, end - Date.now())),
    );
  }

  /** The rows that an answer changes. They are made when they are shown, so that they have all earlier changes. */
  function* eventsOf({ states: next, from }: Update): Generator<InboxEvent> {
    const { items, hasMore } = rows();
    const listed = new Map(next.states.map((state) => [state.id, state]));
    const ids = new Set(items.map(({ id }) => id));
    const last = hasMore ? (items.at(-1)?.sequence ?? 0) : 0;
    const comesIn = next.states.some(
      (state) =>
        !ids.has(state.id) && state.sequence > last && partOf({ extra: { state, expires_at: null } }) === part(),
    );
    for (const id of ids) {
      const row = rows().items.find((item) => item.id === id);
      if (row === undefined) continue;
      const state = stateAfter(row, listed.get(id), from, next);
      if (state === row.extra.state) continue;
      const notification = { ...row, extra: { ...row.extra, state } };
      yield { type: 'put', notification, position: '0' };
    }
    if (comesIn || (part() === 'archived' && next.archived_through > from.archived_through)) yield readAgain;
  }

  /** Reads what was missed, and again after a pause while that fails for a reason that passes. */
  async function catchUp(signal: AbortSignal | undefined): Promise<void> {
    for (let failures = 0; !signal?.aborted; failures += 1) {
      try {
        const isFirst = known === undefined;
        await sync();
        // The first list has its counts.
        if (!isFirst) recount();
        return;
      } catch (error) {
        if (!canPass(error)) throw error;
      }
      await wait(pauseAfter(failures), signal, core.onResume);
    }
  }

  /** Passes the events of a stream on, in order with the changes of states. */
  async function pump(events: AsyncIterable<StatefulInboxEvent>, signal: AbortSignal | undefined): Promise<void> {
    let polling = new AbortController();
    const poll = async () => {
      const { signal: ended } = polling;
      for (;;) {
        await wait(pollPauseMs, ended, core.onResume);
        if (ended.aborted) return;
        await catchUp(ended);
      }
    };
    const removeListener = onAbort(signal, () => polling.abort());
    try {
      for await (const event of events) {
        if (event.type === 'connection') {
          const { connection } = event;
          polling.abort();
          if (connection === 'live' || connection === 'polling') await catchUp(signal);
          polling = new AbortController();
          if (connection === 'polling' && !signal?.aborted) void poll().catch(core.onError);
          push?.(event);
        } else if (event.type === 'state') {
          if (event.states.reset || event.states.has_more) await catchUp(signal);
          else if (known !== undefined && versionOf(event.states) > versionOf(known)) void take(event.states);
          recount();
        } else if (event.type !== 'marker') push?.(event);
      }
    } finally {
      polling.abort();
      removeListener();
    }
  }

  return {
    /** Brings the rows up to date with the states of the service. */
    sync,
    /** Reads the list again. */
    readAgain: () => push?.(readAgain),
    async *follow(
      events: AsyncIterable<StatefulInboxEvent>,
      signal: AbortSignal | undefined,
    ): AsyncGenerator<InboxEvent> {
      const queue: QueueItem[] = [];
      let wake = () => {};
      const own = (item: QueueItem) => {
        queue.push(item);
        wake();
      };
      push = own;
      known = undefined;
      pump(events, signal).then(
        () => own('end'),
        (error: unknown) => own({ error }),
      );
      try {
        for (;;) {
          const item = queue.shift();
          if (item === 'end') return;
          if (item === undefined) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          } else if ('error' in item) throw item.error;
          else if ('states' in item) {
            try {
              yield* eventsOf(item);
            } finally {
              item.onApplied();
            }
          } else yield item;
        }
      } finally {
        for (const item of queue) if (typeof item === 'object' && 'onApplied' in item) item.onApplied();
        if (push === own) {
          push = undefined;
          clearTimeout(snoozeTimer);
        }
      }
    },
  };
}
