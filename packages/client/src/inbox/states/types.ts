import type { PosternError } from '../../errors.js';
import type { List } from '../../lists.js';
import type { Abortable } from '../../platform.js';
import type { Store } from '../../store.js';
import type {
  ChangedStates,
  InboxCounts,
  InboxStates,
  NotificationExtra,
  NotificationItemState,
  TakenAction,
} from '../../wire.js';
import type { NotificationFilter } from '../filter.js';
import type { Notification } from '../notification.js';
import type { Connection, NotificationQuery } from '../types.js';

/** A part of an inbox. `inbox`: neither archived, nor snoozed, nor expired. `snoozed`: not archived. */
export type ItemsPart = 'inbox' | 'archived' | 'snoozed';

/** A notification with what the app added, and with its state. */
export interface StatefulNotification extends Notification {
  readonly extra: NotificationExtra;
}

/** The state of one notification. */
export type ItemState = NotificationItemState;

/**
 * The notifications that a change concerns: the ids of at most 100, or all that match a filter up to a sequence. Later notifications do not
 * change. Without a filter: all.
 */
export type ItemsSelection =
  | readonly string[]
  | { readonly through: number; readonly filter?: NotificationFilter | undefined };

export interface ItemsQuery extends NotificationQuery {
  /** By default, the whole list, also expired notifications. */
  readonly view?: ItemsPart | undefined;
}

/**
 * The states of single notifications: read, archived, snoozed, and the action that the user has chosen. Each change returns the counts
 * after it, and the ids that the user does not have. It can reject with the problem `too_many_marks`: nothing is changed then.
 */
export interface ItemStates {
  /** The notifications with their states. */
  readonly list: (query?: ItemsQuery) => List<StatefulNotification>;
  /** With a selection without a filter, the read position moves, and nothing is marked one by one. */
  readonly markRead: (items: ItemsSelection, options?: Abortable) => Promise<ChangedStates>;
  readonly markUnread: (items: ItemsSelection, options?: Abortable) => Promise<ChangedStates>;
  readonly archive: (items: ItemsSelection, options?: Abortable) => Promise<ChangedStates>;
  readonly unarchive: (items: ItemsSelection, options?: Abortable) => Promise<ChangedStates>;
  /** Hides notifications until a time. Null ends the snooze. It does not change whether they are read. */
  readonly snooze: (items: ItemsSelection, until: Date | string | null, options?: Abortable) => Promise<ChangedStates>;
  /**
   * Chooses an action of a notification and marks it as read. Repeating the same key changes nothing. Rejects with the problems
   * `action_taken` (another key was chosen), `notification_expired` and `not_found`.
   */
  readonly act: (id: string, key: string, options?: Abortable) => Promise<TakenAction>;
  /** The user has seen everything up to a sequence, such as by opening the inbox. It marks nothing as read. */
  readonly seen: (through: number, options?: Abortable) => Promise<InboxCounts>;
  /** The numbers for a badge. With `by`, also of each type. */
  readonly counts: (options?: Abortable & { readonly by?: 'notification_type' | undefined }) => Promise<InboxCounts>;
  /** The states that changed after a position, for your own copy. Without a position: all, and the positions of the user. */
  readonly changes: (after?: string, options?: Abortable) => Promise<InboxStates>;
}

/** A notification as a list shows it. */
export interface StatefulItem extends StatefulNotification {
  readonly isUnread: boolean;
}

/** What a list with tabs and a badge shows. */
export interface ItemsSnapshot {
  readonly view: ItemsPart;
  /** Newest first, without gaps, with the changes that are being sent. */
  readonly items: readonly StatefulItem[];
  /** The last count of Postern, also while a change is being sent. */
  readonly counts: InboxCounts;
  readonly connection: Connection;
  readonly hasMore: boolean;
  /** The first page or `loadMore` is being read. */
  readonly loading: boolean;
  /** Why the last read failed. Earlier items stay, and the client reads again within 30 seconds. */
  readonly error: PosternError | null;
  /** Why the last change failed. It is undone in the list. */
  readonly changeError: PosternError | null;
}

/** None of these functions rejects: see `error` and `changeError`. Each change is shown at once, and undone if the request fails. */
export interface ItemsView extends Store<ItemsSnapshot> {
  /** Shows another part of the inbox, on the same stream. */
  readonly show: (view: ItemsPart) => void;
  /** Shows one more page. */
  readonly loadMore: () => Promise<void>;
  readonly markRead: (ids: readonly string[]) => Promise<void>;
  readonly markUnread: (ids: readonly string[]) => Promise<void>;
  readonly archive: (ids: readonly string[]) => Promise<void>;
  readonly unarchive: (ids: readonly string[]) => Promise<void>;
  /** Null ends the snooze. */
  readonly snooze: (ids: readonly string[], until: Date | string | null) => Promise<void>;
  readonly act: (id: string, key: string) => Promise<void>;
  /** Marks everything that matches the filter of this view as read, up to the newest notification that it shows. */
  readonly markAllRead: () => Promise<void>;
  /** Archives the same. */
  readonly archiveAll: () => Promise<void>;
  /**
   * Marks the shown notifications as seen, so that they no longer count as `unseen`, on any device. Returns false if the request failed.
   */
  readonly seen: () => Promise<boolean>;
}

export interface ItemsViewOptions {
  /** `inbox` by default. */
  readonly view?: ItemsPart | undefined;
  readonly filter?: NotificationFilter | undefined;
  /** The number of notifications of a page, 1 to 100. 20 by default. */
  readonly limit?: number | undefined;
  /** Also counts each notification type. */
  readonly countsBy?: 'notification_type' | undefined;
}
