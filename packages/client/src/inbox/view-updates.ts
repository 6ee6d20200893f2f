import { coreOf } from '../core.js';
import { isPosternError } from '../errors.js';
import type { Page } from '../lists.js';
import type { MutableStore } from '../store.js';
import type { Postern } from '../types.js';
import type { Notification } from './notification.js';
import { emptyInbox, itemsOf } from './shown.js';
import type { Inbox, InboxEvent, InboxSnapshot, InboxViewOptions } from './types.js';

/** Keeps the store of a view up to date. A page loads this code with the stream, because it needs both at the same time. */
export function createViewUpdates(
  postern: Postern,
  inbox: Inbox,
  store: MutableStore<InboxSnapshot>,
  { filter, limit, snapshot }: InboxViewOptions,
) {
  const core = coreOf(postern);
  let running: AbortController | undefined;
  let rows: readonly Notification[] = snapshot?.inbox?.page.data ?? [];
  let cursor = snapshot?.inbox?.page.page.next_cursor ?? null;
  let user = snapshot?.session?.user_id;

  function show(change: Partial<InboxSnapshot> = {}): void {
    const next = { ...store.current, ...change };
    store.set({ ...next, items: itemsOf(rows, next.unread), hasMore: cursor !== null });
  }
  const showError = (error: unknown) => {
    if (!isPosternError(error)) throw error;
    show({ loading: false, error });
  };

  /** Follows the user who is signed in, and removes the rows of the previous user. */
  function start(ended: AbortSignal): void {
    const followUser = () => {
      const { current } = postern;
      if (current.status === 'starting') return;
      const nextUser = current.status === 'signed_in' ? current.user_id : undefined;
      if (nextUser === user && (running !== undefined || nextUser === undefined)) return;
      running?.abort();
      running = undefined;
      // What a snapshot or an earlier subscription showed stays until the list is read again.
      if (nextUser !== user) {
        rows = [];
        cursor = null;
        store.set(nextUser === undefined ? { ...emptyInbox, loading: false, connection: 'offline' } : emptyInbox);
      }
      user = nextUser;
      if (nextUser !== undefined) void run();
    };
    const end = postern.subscribe(followUser);
    ended.addEventListener('abort', () => {
      end();
      running?.abort();
      running = undefined;
    });
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
          // The stream is open before the list is read, so no change is missed.
          if (isOpen && !isListed) isListed = await read(signal);
        } else if (event.type === 'reset') {
          isListed = await read(signal);
        } else {
          apply(event);
          if (event.type !== 'marker') void count(signal);
        }
      }
    } catch (error) {
      if (!signal.aborted) showError(error);
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
      if (!signal.aborted) showError(error);
      return false;
    }
  }

  function apply(event: Extract<InboxEvent, { type: 'put' | 'delete' | 'marker' }>): void {
    if (event.type === 'marker') {
      show({ unread: event.marker });
      return;
    }
    const id = event.type === 'put' ? event.notification.id : event.id;
    const otherRows = rows.filter((row) => row.id !== id);
    rows = event.type === 'put' ? withRow(otherRows, event.notification) : otherRows;
    show();
  }

  /** A row below the last one that was read is not shown yet. */
  function withRow(otherRows: readonly Notification[], row: Notification): readonly Notification[] {
    const place = otherRows.findIndex(({ sequence }) => sequence < row.sequence);
    if (place >= 0) return [...otherRows.slice(0, place), row, ...otherRows.slice(place)];
    const wasShown = rows.some(({ id }) => id === row.id);
    return cursor === null || wasShown ? [...otherRows, row] : otherRows;
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
      if (!signal.aborted) showError(error);
    }
  }

  async function markRead({ sequence }: Pick<Notification, 'sequence'>): Promise<void> {
    const { unread: previousMarker } = store.current;
    if (sequence <= previousMarker.last_read_sequence) return;
    const unreadRows = rows.filter((row) => row.sequence > sequence).length;
    show({
      unread: { ...previousMarker, last_read_sequence: sequence, unread_count: unreadRows, unread_count_capped: false },
    });
    try {
      show({ unread: await inbox.markRead({ sequence }) });
    } catch (error) {
      show({ unread: previousMarker });
      showError(error);
    }
  }

  return {
    start,
    loadMore,
    markRead,
    async markAllRead() {
      const [newest] = rows;
      if (newest !== undefined) await markRead(newest);
    },
  };
}
