import { coreOf } from '../../core.js';
import { createStore } from '../../store.js';
import type { Postern } from '../../types.js';
import type { InboxCounts } from '../../wire.js';
import { coalesced } from '../coalesced.js';
import { emptyInbox } from '../shown.js';
import type { Inbox, LiveQuery } from '../types.js';
import { createInboxView } from '../view.js';
import { partOf } from './apply-states.js';
import { createChanges } from './changes.js';
import { createFollower } from './follower.js';
import { createItemStates } from './item-states.js';
import { startTimerAt } from './snoozes.js';
import type { ItemsSnapshot, ItemsView, ItemsViewOptions, StatefulItem, StatefulNotification } from './types.js';
import { createViewChanges } from './view-changes.js';

const noCounts: InboxCounts = { unseen: 0, unread: 0, is_capped: false, by: {} };

/**
 * A list of notifications with their states, and the numbers of a badge. It keeps itself up to date while somebody subscribes to it, on
 * all devices of the user. An app that only needs the read position uses `createInboxView`, which loads less.
 *
 * @example
 * ```ts
 * import { createInbox, createItemsView, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const view = createItemsView(postern, createInbox(postern), { limit: 10 });
 * view.subscribe(({ items, counts }) => console.log(counts.unseen, items.map(({ description }) => description)));
 * const tomorrow = new Date(Date.now() + 86_400_000);
 * const [first, second] = view.current.items;
 * if (first) await view.archive([first.id]);
 * if (second) await view.snooze([second.id], tomorrow);
 * ```
 */
export function createItemsView(postern: Postern, inbox: Inbox, options: ItemsViewOptions = {}): ItemsView {
  const { filter, limit = 20, countsBy } = options;
  const core = coreOf(postern);
  const states = createItemStates(postern);
  let view = options.view ?? 'inbox';
  /** Whether the list of this view has not been read yet. */
  let isSwitching = false;
  let counts = noCounts;
  let isUsed = false;
  const { unread: _, ...emptyList } = emptyInbox;
  const empty: ItemsSnapshot = { ...emptyList, view, items: [], counts, changeError: null };

  const store = createStore<ItemsSnapshot>(empty, () => {
    const removeListeners = [rows.onChange(show), postern.onChange(show)];
    isUsed = true;
    show();
    return () => {
      isUsed = false;
      expiry.set([]);
      for (const removeListener of removeListeners) removeListener();
    };
  });

  /** The rows that were read last, with their states. Those that have left the part stay, so that they can come back. */
  const rowsNow = () => rows.current.items as readonly StatefulItem[];
  const userNow = () => ('user_id' in postern.current ? postern.current.user_id : undefined);
  let countedUser: string | undefined;

  function show(): void {
    if (countedUser !== userNow()) {
      counts = noCounts;
      countedUser = userNow();
      changes.clear();
    }
    const { connection, hasMore, error } = rows.current;
    const now = Date.now();
    const all = rowsNow().map((row) => changes.apply(row));
    const items = all
      .filter((item) => partOf(item, now) === view)
      .map((item) => ({ ...item, isUnread: !item.extra.state.read }));
    const isSignedOut = postern.current.status === 'signed_out';
    const loading = !isSignedOut && (rows.current.loading || (isSwitching && error === null));
    const changeError = changes.error();
    store.set({ view, items, counts, connection, hasMore, loading, error, changeError });
    expiry.set(isUsed && view === 'inbox' ? items : []);
    // Notifications that were read have left this part.
    if (items.length === 0 && hasMore && !loading && error === null) void rows.loadMore();
  }
  /** The service sends nothing when a notification expires. */
  const expiry = createExpiryTimer(() => {
    show();
    void recount();
  });

  const count = coalesced(async () => {
    const user = userNow();
    const next = await states.counts({ by: countsBy });
    if (user !== userNow()) return;
    // Returns the same object as before if nothing has changed, so that components do not render again.
    if (JSON.stringify(next) !== JSON.stringify(counts)) counts = next;
    show();
  });
  const recount = () => count().catch(core.onError);

  const follower = createFollower({
    core,
    states,
    count,
    rows: () => ({ items: rowsNow(), hasMore: rows.current.hasMore }),
    part: () => view,
  });
  const changes = createChanges({ core, show });
  const source: Inbox = {
    ...inbox,
    list(query = {}) {
      const { signal } = query;
      const listed = () => {
        const shown = isSwitching ? limit : Math.min(100, Math.max(limit, rowsNow().length));
        return states.list({ filter, view, limit: shown, signal });
      };
      const first = async () => {
        const asked = view;
        const page = await listed().page();
        if (asked === view) isSwitching = false;
        return page;
      };
      return {
        ...listed(),
        page: (at) => (at === undefined ? first() : states.list({ filter, view, limit, signal }).page(at)),
      };
    },
    async marker() {
      await count();
      return emptyInbox.unread;
    },
    /** The events of the stream, and changes of states as changes of rows. */
    live: ({ signal }: LiveQuery = {}) => follower.follow(inbox.live({ filter, include: 'extra', signal }), signal),
  };
  const rows = createInboxView(postern, source, { filter, limit });

  const newest = () => Math.max(0, ...rowsNow().map(({ sequence }) => sequence));
  // The states are read after a change, because other devices may have changed them too.
  const readStates = () => Promise.all([follower.sync(), count()]);
  const viewChanges = createViewChanges(states, filter, newest, (items, values, request) =>
    changes.send(items, values, request, readStates),
  );

  return Object.assign(store, viewChanges, {
    show(next: ItemsSnapshot['view']) {
      if (next === view) return;
      view = next;
      isSwitching = true;
      follower.readAgain();
      show();
    },
    loadMore: () => rows.loadMore(),
    async seen() {
      const through = newest();
      if (through === 0 || counts.unseen === 0) return true;
      try {
        await states.seen(through);
        await count();
        return true;
      } catch (error) {
        core.onError(error);
        return false;
      }
    },
  });
}

/** Calls `onExpiry` when the first of the notifications expires. */
function createExpiryTimer(onExpiry: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    set(items: readonly StatefulNotification[]): void {
      clearTimeout(timer);
      const ends = items.flatMap(({ extra: { expires_at: end } }) => (end ? [Date.parse(end)] : []));
      if (ends.length > 0) timer = startTimerAt(Math.min(...ends), onExpiry);
    },
  };
}
