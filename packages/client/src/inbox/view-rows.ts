import type { Core } from '../core.js';
import { isPosternError } from '../errors.js';
import type { MutableStore } from '../store.js';
import type { Marker, Notification } from './notification.js';
import { emptyInbox, itemsOf } from './shown.js';
import type { InboxEvent, InboxSnapshot, InboxViewOptions } from './types.js';

export type RowEvent = Extract<InboxEvent, { readonly type: 'put' | 'delete' }>;

/** The notifications that a view has read, and those that it shows. */
export interface ViewRows {
  rows: readonly Notification[];
  /** Where the next page begins. Null: there is none. */
  cursor: string | null;
  /** The read position of the service. */
  marker: Marker;
  /** Read positions that are being sent to the service. */
  readonly sent: Set<number>;
  show(change?: Partial<InboxSnapshot>): void;
  showError(error: unknown): void;
  setMarker(next: Marker, change?: Partial<InboxSnapshot>): void;
  apply(event: RowEvent): void;
}

/** Creates the rows of a view. */
export function createViewRows(
  core: Core,
  store: MutableStore<InboxSnapshot>,
  snapshot?: InboxViewOptions['snapshot'],
): ViewRows {
  const page = snapshot?.inbox?.page;
  const view: ViewRows = {
    rows: page?.data ?? [],
    cursor: page?.page.next_cursor ?? null,
    marker: snapshot?.inbox?.marker ?? emptyInbox.unread,
    sent: new Set(),
    show(change = {}) {
      const { rows, cursor } = view;
      const unread = shownMarker(view);
      store.set({ ...store.current, ...change, unread, items: itemsOf(rows, unread), hasMore: cursor !== null });
    },
    showError(error) {
      if (isPosternError(error)) view.show({ loading: false, error });
      else core.onError(error);
    },
    setMarker(next, change) {
      // The service never moves the read position back, so a lower position is an old answer.
      if (next.last_read_sequence >= view.marker.last_read_sequence) view.marker = next;
      view.show(change);
    },
    apply(event) {
      const id = event.type === 'put' ? event.notification.id : event.id;
      const others = view.rows.filter((row) => row.id !== id);
      view.rows = event.type === 'put' ? withRow(view, others, event.notification) : others;
      view.show();
    },
  };
  return view;
}

/** The marker after the service has received all read positions. */
function shownMarker({ rows, marker, sent }: ViewRows): Marker {
  const position = Math.max(marker.last_read_sequence, ...sent);
  if (position === marker.last_read_sequence) return marker;
  const unread = rows.filter(({ sequence }) => sequence > position).length;
  return { ...marker, last_read_sequence: position, unread_count: unread, unread_count_capped: false };
}

/** A row below the last loaded row is not shown yet. */
function withRow({ rows, cursor }: ViewRows, others: readonly Notification[], row: Notification) {
  const place = others.findIndex(({ sequence }) => sequence < row.sequence);
  if (place >= 0) return [...others.slice(0, place), row, ...others.slice(place)];
  const wasShown = rows.some(({ id }) => id === row.id);
  return cursor === null || wasShown ? [...others, row] : others;
}
