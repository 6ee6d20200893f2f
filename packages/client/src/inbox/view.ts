import { coreOf } from '../core.js';
import { isPosternError, type PosternError } from '../errors.js';
import type { Page } from '../lists.js';
import type { Snapshot } from '../snapshot.js';
import { createStore, type Store } from '../store.js';
import type { Postern } from '../types.js';
import type { Inbox, NotificationQuery } from './inbox.js';
import type { Connection, InboxEvent } from './live.js';
import type { Marker, Notification } from './notification.js';

export interface InboxItem extends Notification {
  readonly isUnread: boolean;
}

/** What a list with a bell shows. */
export interface InboxSnapshot {
  /** Newest first, without gaps. */
  readonly items: readonly InboxItem[];
  readonly unread: Marker;
  readonly connection: Connection;
  readonly hasMore: boolean;
  /** The first page or `loadMore` is being read. */
  readonly loading: boolean;
  /** Why the last reading failed. What was read before stays. */
  readonly error: PosternError | null;
}

export interface InboxView extends Store<InboxSnapshot> {
  /** Shows one more page. Never rejects: see `error`. */
  readonly loadMore: () => Promise<void>;
  /** Moves the marker at once, and back if Postern refuses. */
  readonly markRead: (upTo: Pick<Notification, 'sequence'>) => Promise<void>;
  readonly markAllRead: () => Promise<void>;
}

export interface InboxViewOptions extends Pick<NotificationQuery, 'filter' | 'limit'> {
  /** Shown until the list is read, such as in a page that a server rendered. It must have the same filter and limit. */
  readonly snapshot?: Snapshot | undefined;
}

const nothingUnread: Marker = { last_read_sequence: 0, unread_count: 0, unread_count_capped: false, updated_at: null };
const empty: InboxSnapshot = {
  ...{ items: [], unread: nothingUnread, connection: 'connecting', hasMore: false, loading: true, error: null },
};

/**
 * A list of notifications that keeps itself up to date while somebody subscribes to it.
 *
 * @example
 * ```ts
 * import { createInbox, createInboxView, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const view = createInboxView(postern, createInbox(postern), { limit: 10 });
 * view.subscribe(({ items, unread }) => console.log(unread.unread_count, items.map((item) => item.description)));
 * ```
 */
export function createInboxView(
  postern: Postern,
  inbox: Inbox,
  { filter, limit, snapshot }: InboxViewOptions = {},
): InboxView {
  const core = coreOf(postern);
  const store = createStore<InboxSnapshot>(empty, start);
  let running: AbortController | undefined;
  let rows: readonly Notification[] = [];
  let cursor: string | null = null;
  let user: string | undefined;
  if (snapshot?.session && snapshot.inbox) {
    const { page, marker } = snapshot.inbox;
    user = snapshot.session.user_id;
    rows = page.data;
    cursor = page.page.next_cursor;
    show({ unread: marker, loading: false });
  }

  function show(change: Partial<InboxSnapshot> = {}): void {
    const next = { ...store.current, ...change };
    const read = next.unread.last_read_sequence;
    const items = rows.map((row) => ({ ...row, isUnread: row.sequence > read }));
    store.set({ ...next, items, hasMore: cursor !== null });
  }
  const failed = (error: unknown) => {
    if (!isPosternError(error)) throw error;
    show({ loading: false, error });
  };

  /** Follows the user who is signed in, and forgets the rows of the former one. */
  function start(): () => void {
    const change = () => {
      const { current } = postern;
      if (current.status === 'starting') return;
      const next = current.status === 'signed_in' ? current.user_id : undefined;
      if (next === user && (running !== undefined || next === undefined)) return;
      running?.abort();
      running = undefined;
      // What a snapshot or an earlier subscription showed stays until the list is read again.
      if (next !== user) {
        rows = [];
        cursor = null;
        store.set(next === undefined ? { ...empty, loading: false, connection: 'offline' } : empty);
      }
      user = next;
      if (next !== undefined) void run();
    };
    const end = postern.subscribe(change);
    return () => {
      end();
      running?.abort();
      running = undefined;
    };
  }

  async function run(): Promise<void> {
    running = new AbortController();
    const { signal } = running;
    let isListed = false;
    try {
      for await (const event of inbox.live({ filter, signal })) {
        if (event.type === 'connection') {
          show({ connection: event.connection });
          const isOpen = event.connection === 'live' || event.connection === 'polling';
          // The stream is open before the list is read, so nothing falls between them.
          if (isOpen && !isListed) isListed = await read(signal);
        } else if (event.type === 'reset') {
          isListed = await read(signal);
        } else {
          apply(event);
          if (event.type !== 'marker') void count(signal);
        }
      }
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  async function read(signal: AbortSignal): Promise<boolean> {
    try {
      const [first, unread] = await Promise.all([
        inbox.list({ filter, limit, signal }).page(),
        inbox.marker({ signal }),
      ]);
      rows = first.data;
      cursor = first.page.next_cursor;
      show({ unread, loading: false, error: null });
      return true;
    } catch (error) {
      if (!signal.aborted) failed(error);
      return false;
    }
  }

  function apply(event: Extract<InboxEvent, { type: 'put' | 'delete' | 'marker' }>): void {
    if (event.type === 'marker') {
      show({ unread: event.marker });
      return;
    }
    const id = event.type === 'put' ? event.notification.id : event.id;
    const others = rows.filter((row) => row.id !== id);
    rows = event.type === 'put' ? inserted(others, event.notification) : others;
    show();
  }

  /** A row below the last one that was read is not shown yet. */
  function inserted(others: readonly Notification[], row: Notification): readonly Notification[] {
    const place = others.findIndex(({ sequence }) => sequence < row.sequence);
    if (place >= 0) return [...others.slice(0, place), row, ...others.slice(place)];
    const wasShown = rows.some(({ id }) => id === row.id);
    return cursor === null || wasShown ? [...others, row] : others;
  }

  /** Reads the number of unread notifications: once for all events that arrive while it is read. */
  let isCounting = false;
  let mustCount = false;
  async function count(signal: AbortSignal): Promise<void> {
    mustCount = true;
    if (isCounting) return;
    isCounting = true;
    try {
      while (mustCount) {
        mustCount = false;
        show({ unread: await inbox.marker({ signal }) });
      }
    } catch (error) {
      if (!signal.aborted) core.onError(error);
    } finally {
      isCounting = false;
    }
  }

  async function loadMore(): Promise<void> {
    if (cursor === null || store.current.loading || running === undefined) return;
    const { signal } = running;
    show({ loading: true, error: null });
    try {
      const page: Page<Notification> = await inbox.list({ filter, limit, signal }).page({ cursor });
      const known = new Set(rows.map(({ id }) => id));
      rows = [...rows, ...page.data.filter(({ id }) => !known.has(id))];
      cursor = page.page.next_cursor;
      show({ loading: false });
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  }

  async function markRead({ sequence }: Pick<Notification, 'sequence'>): Promise<void> {
    const { unread: before } = store.current;
    if (sequence <= before.last_read_sequence) return;
    const unreadRows = rows.filter((row) => row.sequence > sequence).length;
    show({ unread: { ...before, last_read_sequence: sequence, unread_count: unreadRows, unread_count_capped: false } });
    try {
      show({ unread: await inbox.markRead({ sequence }) });
    } catch (error) {
      show({ unread: before });
      failed(error);
    }
  }

  return Object.assign(store, {
    loadMore,
    markRead,
    markAllRead: async () => {
      const [newest] = rows;
      if (newest !== undefined) await markRead(newest);
    },
  });
}
