import { coreOf } from '../core.js';
import { isPosternError } from '../errors.js';
import { wait } from '../platform.js';
import type { MutableStore } from '../store.js';
import { startTimer } from '../time.js';
import type { Postern } from '../types.js';
import { canPass, pauseAfter } from './live.js';
import type { Marker, Notification } from './notification.js';
import { emptyInbox, itemsOf } from './shown.js';
import type { Inbox, InboxEvent, InboxSnapshot, InboxViewOptions } from './types.js';

/** How long the first list waits for the stream, in milliseconds. If the stream opens later, the list is read again. */
const firstReadMs = 1000;

type RowEvent = Extract<InboxEvent, { readonly type: 'put' | 'delete' }>;
type Part = 'list' | 'more' | 'marker';

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
  /** The read position of the service, and those that are being sent to it. */
  let marker: Marker = store.current.unread;
  const sentPositions = new Set<{ readonly sequence: number }>();

  function show(change: Partial<InboxSnapshot> = {}): void {
    const unread = shownMarker();
    store.set({ ...store.current, ...change, unread, items: itemsOf(rows, unread), hasMore: cursor !== null });
  }
  function shownMarker(): Marker {
    const position = Math.max(marker.last_read_sequence, ...[...sentPositions].map(({ sequence }) => sequence));
    if (position === marker.last_read_sequence) return marker;
    const unread = rows.filter(({ sequence }) => sequence > position).length;
    return { ...marker, last_read_sequence: position, unread_count: unread, unread_count_capped: false };
  }
  /** The service never moves the read position back, so an earlier one is an answer that came late. */
  function setMarker(next: Marker): void {
    if (next.last_read_sequence >= marker.last_read_sequence) marker = next;
  }

  /** Follows the user who is signed in, and removes the rows of the previous user. */
  function start(ended: AbortSignal): void {
    const followUser = () => {
      const { current } = postern;
      if (current.status === 'starting') return;
      const nextUser = current.status === 'signed_in' ? current.user_id : undefined;
      if (nextUser === user && (running !== undefined || nextUser === undefined)) return;
      stop();
      // What a snapshot or an earlier subscription showed stays until the list is read again.
      if (nextUser !== user) {
        rows = [];
        cursor = null;
        marker = emptyInbox.unread;
        sentPositions.clear();
        store.set(nextUser === undefined ? { ...emptyInbox, loading: false, connection: 'offline' } : emptyInbox);
      }
      user = nextUser;
      if (nextUser !== undefined) void run();
    };
    const end = postern.subscribe(followUser);
    ended.addEventListener('abort', () => {
      end();
      stop();
    });
  }
  function stop(): void {
    running?.abort();
    running = undefined;
    missing.clear();
  }

  async function run(): Promise<void> {
    running = new AbortController();
    const { signal } = running;
    let isFollowing = false;
    const firstRead = startTimer(() => void read('list', signal), firstReadMs);
    signal.addEventListener('abort', () => clearTimeout(firstRead));
    try {
      for await (const event of inbox.live({ filter, signal })) {
        if (event.type === 'connection') {
          show({ connection: event.connection });
          if (isFollowing || (event.connection !== 'live' && event.connection !== 'polling')) continue;
          isFollowing = true;
          clearTimeout(firstRead);
        }
        // From the position of the stream on, no change is missed.
        if (event.type === 'connection' || event.type === 'reset') void read('list', signal);
        else if (event.type === 'marker') {
          setMarker(event.marker);
          show();
        } else {
          apply(event);
          for (const events of eventsOfReads) events.push(event);
          void count(signal);
        }
      }
    } catch (error) {
      if (!signal.aborted) showError(error);
    }
  }

  /** What could not be read, and is read again. */
  const missing = new Set<Part>();
  let failures = 0;
  let waitingFor: AbortSignal | undefined;
  const readers = { list: readList, more: readMore, marker: readMarker };

  /** Reads a part, and again after a pause if that fails. */
  async function read(part: Part, signal: AbortSignal): Promise<void> {
    missing.delete(part);
    try {
      await readers[part](signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      // The list is right without the count, so only the app learns of it.
      if (part === 'marker') core.onError(error);
      else showError(error);
      if (canPass(error)) void readLater(part, signal);
    }
  }
  async function readLater(part: Part, signal: AbortSignal): Promise<void> {
    missing.add(part);
    if (waitingFor === signal) return;
    waitingFor = signal;
    await wait(pauseAfter(failures), signal, core.onResume);
    if (waitingFor !== signal) return;
    waitingFor = undefined;
    failures += 1;
    // A new list begins with its first page.
    const parts: readonly Part[] = missing.has('list') ? ['list'] : [...missing];
    for (const next of parts) void read(next, signal);
  }
  function showError(error: unknown): void {
    if (isPosternError(error)) show({ loading: false, error });
    else core.onError(error);
  }

  /** Reads may overlap: an answer to an earlier one is not shown after that to a later one. */
  let listReads = 0;
  let shownRead = 0;
  /** The events that arrived since the start of each read, whose answer may not contain them. */
  const eventsOfReads = new Set<RowEvent[]>();
  async function readList(signal: AbortSignal): Promise<void> {
    listReads += 1;
    const number = listReads;
    const events: RowEvent[] = [];
    eventsOfReads.add(events);
    try {
      const [first, unread] = await Promise.all([
        inbox.list({ filter, limit, signal }).page(),
        inbox.marker({ signal }),
      ]);
      if (signal.aborted || number < shownRead) return;
      shownRead = number;
      missing.clear();
      rows = first.data;
      cursor = first.page.next_cursor;
      marker = unread;
      show({ loading: false, error: null });
      for (const event of events) apply(event);
      if (events.length > 0) void count(signal);
    } finally {
      eventsOfReads.delete(events);
    }
  }

  function apply(event: RowEvent): void {
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
    while (mustCount && !signal.aborted) {
      mustCount = false;
      await read('marker', signal);
    }
    isCounting = false;
  }
  async function readMarker(signal: AbortSignal): Promise<void> {
    setMarker(await inbox.marker({ signal }));
    show(missing.size === 0 ? { error: null } : {});
  }

  async function loadMore(): Promise<void> {
    if (cursor === null || store.current.loading || running === undefined) return;
    show({ loading: true, error: null });
    await read('more', running.signal);
  }
  async function readMore(signal: AbortSignal): Promise<void> {
    const start = cursor;
    if (start === null) return;
    const page = await inbox.list({ filter, limit, signal }).page({ cursor: start });
    // The list may have been read again.
    if (signal.aborted || cursor !== start) return;
    const known = new Set(rows.map(({ id }) => id));
    rows = [...rows, ...page.data.filter(({ id }) => !known.has(id))];
    cursor = page.page.next_cursor;
    show({ loading: false, error: null });
  }

  async function markRead({ sequence }: Pick<Notification, 'sequence'>): Promise<void> {
    if (sequence <= store.current.unread.last_read_sequence) return;
    const owner = user;
    const sent = { sequence };
    sentPositions.add(sent);
    show();
    let failure: unknown;
    try {
      const next = await inbox.markRead({ sequence });
      if (owner === user) setMarker(next);
    } catch (error) {
      failure = error;
    }
    if (owner !== user) return;
    sentPositions.delete(sent);
    show();
    if (failure === undefined) return;
    showError(failure);
    if (running !== undefined && canPass(failure)) void readLater('marker', running.signal);
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
