import type { Core } from '../core.js';
import { wait } from '../platform.js';
import { coalesced } from './coalesced.js';
import { canPass, pauseAfter } from './live.js';
import type { Inbox, InboxViewOptions } from './types.js';
import type { RowEvent, ViewRows } from './view-rows.js';

type Part = 'list' | 'more' | 'marker';

/**
 * Creates the reads of a view. A failed read is repeated after a pause. They end when the view has no subscriber, or when another user is
 * signed in.
 */
export function createViewReads(core: Core, inbox: Inbox, view: ViewRows, { filter, limit }: InboxViewOptions) {
  const ended = new AbortController();
  const { signal } = ended;
  /** A part that could not be read, and is read again. */
  const missing = new Set<Part>();
  let failures = 0;
  let isWaiting = false;
  const readers = { list: readList, more: readMore, marker: readMarker };

  async function read(part: Part): Promise<void> {
    missing.delete(part);
    try {
      await readers[part]();
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      // The list is right without the count, so only the app learns of it.
      if (part === 'marker') core.onError(error);
      else view.showError(error);
      if (canPass(error)) void readLater(part);
    }
  }
  async function readLater(part: Part): Promise<void> {
    missing.add(part);
    if (isWaiting) return;
    isWaiting = true;
    await wait(pauseAfter(failures), signal, core.onResume);
    if (signal.aborted) return;
    isWaiting = false;
    failures += 1;
    // A new list begins with its first page.
    const parts: readonly Part[] = missing.has('list') ? ['list'] : [...missing];
    for (const next of parts) void read(next);
  }

  /**
   * For each read of the list: the events since its start, which its answer may not contain. When an answer is shown, earlier reads end,
   * because their answers are older.
   */
  const eventsOfReads = new Set<RowEvent[]>();
  async function readList(): Promise<void> {
    const events: RowEvent[] = [];
    eventsOfReads.add(events);
    try {
      const [first, unread] = await Promise.all([
        inbox.list({ filter, limit, signal }).page(),
        inbox.marker({ signal }),
      ]);
      if (signal.aborted || !eventsOfReads.has(events)) return;
      for (const earlier of eventsOfReads) {
        if (earlier === events) break;
        eventsOfReads.delete(earlier);
      }
      missing.clear();
      view.rows = first.data;
      view.cursor = first.page.next_cursor;
      view.marker = unread;
      view.show({ loading: false, error: null });
      for (const event of events) view.apply(event);
      if (events.length > 0) void count();
    } finally {
      eventsOfReads.delete(events);
    }
  }
  async function readMore(): Promise<void> {
    const { cursor } = view;
    if (cursor === null) return;
    const page = await inbox.list({ filter, limit, signal }).page({ cursor });
    // The list may have been read again.
    if (signal.aborted || view.cursor !== cursor) return;
    const known = new Set(view.rows.map(({ id }) => id));
    view.rows = [...view.rows, ...page.data.filter(({ id }) => !known.has(id))];
    view.cursor = page.page.next_cursor;
    view.show({ loading: false, error: null });
  }
  async function readMarker(): Promise<void> {
    const marker = await inbox.marker({ signal });
    if (!signal.aborted) view.setMarker(marker, missing.size === 0 ? { error: null } : {});
  }

  /** Reads the number of unread notifications: once for all events that arrive while it is read. */
  const count = coalesced(() => read('marker'));

  return {
    signal,
    end: () => ended.abort(),
    read,
    readLater,
    apply(event: RowEvent) {
      view.apply(event);
      for (const events of eventsOfReads) events.push(event);
      void count();
    },
  };
}
