import type { Core } from '../../core.js';
import { onAbort, wait } from '../../platform.js';
import type { InboxStates } from '../../wire.js';
import { coalesced } from '../coalesced.js';
import { canPass, pauseAfter, pollPauseMs } from '../live.js';
import { afterTheEnd } from '../polling.js';
import { createQueue, type Queue } from '../queue.js';
import type { InboxEvent, StatefulInboxEvent } from '../types.js';
import { changedRows, type ShownRows } from './changed-rows.js';
import { createSnoozes } from './snoozes.js';
import type { ItemStates, ItemsPart } from './types.js';

interface Update {
  readonly states: InboxStates;
  readonly from: InboxStates;
  readonly onApplied: () => void;
}
type QueueItem = InboxEvent | Update | { readonly error: unknown } | 'end';

export interface FollowerOptions {
  readonly core: Pick<Core, 'onError' | 'onResume'>;
  readonly states: ItemStates;
  rows(): ShownRows;
  part(): ItemsPart;
  /** Reads the counts. */
  count(): Promise<void>;
}

type StatesOptions = Pick<FollowerOptions, 'states' | 'rows' | 'part'>;

const versionOf = ({ after }: InboxStates) => Number.parseInt(after, 10);
const readAgain: InboxEvent = { type: 'reset', position: '0' };

/** The known states of a user, from the start of a stream to its end. */
function createKnownStates({ states, rows, part }: StatesOptions) {
  /** What the stream shows next. Undefined while there is no stream. */
  let queue: Queue<QueueItem> | undefined;
  /** The last answer about states. Undefined before the first one of a stream. */
  let known: InboxStates | undefined;
  const snoozes = createSnoozes(() => queue?.put(readAgain));

  /** Takes an answer, unless a later one was first. Resolves when the rows show it. */
  function take(next: InboxStates): Promise<void> | undefined {
    const from = known;
    if (from === undefined || queue === undefined || versionOf(next) < versionOf(from)) return undefined;
    const to = queue;
    known = next;
    snoozes.update(next.states);
    return new Promise((onApplied) => to.put({ states: next, from, onApplied }));
  }

  /** Begins with the present position: the rows have their states when they are read. */
  async function begin(): Promise<void> {
    const owner = queue;
    const [next, snoozed] = await Promise.all([
      states.changes(afterTheEnd),
      states.list({ view: 'snoozed', limit: 100 }).page(),
    ]);
    // Another user may have signed in.
    if (queue !== owner) return;
    known = { ...next, states: [], reset: false };
    snoozes.begin(snoozed.data);
  }

  return {
    take,
    isBegun: () => known !== undefined,
    isNew: (next: InboxStates) => known !== undefined && versionOf(next) > versionOf(known),
    /** Reads the states that are new. */
    sync: coalesced(async () => {
      const owner = queue;
      while (owner !== undefined) {
        if (known === undefined) return begin();
        const next: InboxStates = await states.changes(known.after);
        if (queue !== owner) return;
        if (next.reset) {
          await begin();
          queue?.put(readAgain);
          return;
        }
        const isTaken = take(next);
        if (isTaken === undefined || !next.has_more) return isTaken;
      }
    }),
    /** Reads the list again. */
    readAgain: () => queue?.put(readAgain),
    start(next: Queue<QueueItem>): void {
      queue = next;
      known = undefined;
    },
    /** The changes of rows after an answer. They are computed when they are shown. */
    *eventsOf({ states: next, from }: Update): Generator<InboxEvent> {
      const changed = changedRows(rows, part(), from, next);
      let row = changed.next();
      for (; !row.done; row = changed.next()) yield { type: 'put', notification: row.value, position: '0' };
      if (row.value) yield readAgain;
    },
    stop(from: Queue<QueueItem>): void {
      for (const item of from.items) if (typeof item === 'object' && 'onApplied' in item) item.onApplied();
      if (queue !== from) return;
      queue = undefined;
      snoozes.stop();
    },
  };
}

/** Follows the states of an inbox, and turns their changes into changes of rows. */
export function createFollower({ core, count, ...options }: FollowerOptions) {
  const known = createKnownStates(options);
  const recount = () => void count().catch(core.onError);
  /** Either its category is hidden from the inbox, or another device was faster. The list shows which. */
  const arrivesArchived = (event: StatefulInboxEvent) =>
    event.type === 'put' &&
    event.notification.extra?.state.archived &&
    !options.rows().items.some(({ id }) => id === event.notification.id);

  /** Reads missed changes. After a temporary failure, it tries again after a pause. */
  async function catchUp(signal: AbortSignal | undefined): Promise<void> {
    for (let failures = 0; !signal?.aborted; failures += 1) {
      try {
        const isFirst = !known.isBegun();
        await known.sync();
        // The first list has its counts.
        if (!isFirst) recount();
        return;
      } catch (error) {
        if (!canPass(error)) throw error;
      }
      await wait(pauseAfter(failures), signal, core.onResume);
    }
  }

  /** Reads changes at intervals while there is no stream. */
  async function poll(signal: AbortSignal): Promise<void> {
    for (;;) {
      await wait(pollPauseMs, signal, core.onResume);
      if (signal.aborted) return;
      await catchUp(signal);
    }
  }

  /** Passes the events of a stream on, in order with the changes of states. */
  async function pump(
    events: AsyncIterable<StatefulInboxEvent>,
    queue: Queue<QueueItem>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let polling = new AbortController();
    const removeListener = onAbort(signal, () => polling.abort());
    try {
      for await (const event of events) {
        if (event.type === 'connection') {
          const { connection } = event;
          polling.abort();
          if (connection === 'live' || connection === 'polling') await catchUp(signal);
          polling = new AbortController();
          if (connection === 'polling' && !signal?.aborted) void poll(polling.signal).catch(core.onError);
          queue.put(event);
        } else if (event.type === 'state') {
          if (event.states.reset || event.states.has_more) await catchUp(signal);
          else if (known.isNew(event.states)) void known.take(event.states);
          recount();
        } else if (arrivesArchived(event)) {
          if (options.part() === 'archived') queue.put(readAgain);
        } else if (event.type !== 'marker') queue.put(event);
      }
    } finally {
      polling.abort();
      removeListener();
    }
  }

  return {
    /** Brings the rows up to date with the states of the service. */
    sync: known.sync,
    readAgain: known.readAgain,
    async *follow(
      events: AsyncIterable<StatefulInboxEvent>,
      signal: AbortSignal | undefined,
    ): AsyncGenerator<InboxEvent> {
      const queue = createQueue<QueueItem>();
      known.start(queue);
      pump(events, queue, signal).then(
        () => queue.put('end'),
        (error: unknown) => queue.put({ error }),
      );
      try {
        for (;;) {
          const item = await queue.take();
          if (item === 'end') return;
          if ('error' in item) throw item.error;
          if ('states' in item) {
            try {
              yield* known.eventsOf(item);
            } finally {
              item.onApplied();
            }
          } else yield item;
        }
      } finally {
        known.stop(queue);
      }
    },
  };
}
