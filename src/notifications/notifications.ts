import type { Changes } from '../contract/changes.js';
import type { Image } from '../contract/image.js';
import type { Notification, NotificationChange } from '../contract/notification.js';
import { createBatchLoader } from '../database/batching/batch-loader.js';
import type { Transaction } from '../database/database.js';
import type { FilterFields } from '../lib/filter/fields.js';
import type { Pacer } from '../lib/pacing.js';
import { findImages } from './images/rows.js';
import { type ChangesQuery, listChanges } from './inbox/changes.js';
import type { ExpensiveReadLimit } from './inbox/expensive-reads.js';
import { type ExtraColumns, type ExtraState, selectExtraState, toExtra } from './inbox/extras.js';
import { notificationFilterFields } from './inbox/filter-fields.js';
import {
  isExpensive,
  type ListedRow,
  type NotificationQuery,
  type PageOfRows,
  selectPage,
} from './inbox/list-queries.js';
import { notificationOf } from './inbox/row.js';
import { type InboxState, selectState, selectStates } from './inbox/state.js';
import { type ChangedNotification, change, remove } from './publishing/change.js';
import { createPublisher, type Publisher, type PublisherOptions } from './publishing/publish.js';
import { removeAll } from './publishing/replace.js';
import type { ExactNumbers } from './publishing/validation.js';

/** One page of an inbox. */
export interface InboxPage extends Omit<PageOfRows, 'rows'> {
  readonly items: Notification[];
  /** The sequence numbers by which the first and the last row are sorted; absent for an empty page. */
  readonly places?: { readonly first: number; readonly last: number };
}

/** Users' inboxes. If a method that has the parameter `tx` throws, the caller must let this transaction fail. */
export interface Notifications extends Publisher {
  /** The fields that inboxes can be filtered by. */
  readonly filterFields: FilterFields;

  /** One page of a user's inbox; undefined when there is no such user. */
  list(userId: string, query: NotificationQuery): Promise<InboxPage | undefined>;

  /**
   * Like `list`, but for a request of the inbox's owner: expensive queries are limited.
   * @throws Problem `too_many_requests`, `overloaded`
   */
  listOwn(userId: string, query: NotificationQuery): Promise<InboxPage | undefined>;

  /** The state of an inbox; undefined when there is no such user. Requests that arrive together share a query. */
  state(userId: string): Promise<InboxState | undefined>;

  /** The same with the states of its notifications; undefined when there is no such user. */
  extraState(userId: string): Promise<ExtraState | undefined>;

  /**
   * The changes of an inbox after a position. Queries with a filter are limited.
   * @throws Problem `invalid_session_token` when there is no such user; `too_many_requests`, `overloaded`
   */
  changes(userId: string, query: ChangesQuery): Promise<Changes>;

  /**
   * Changes the fields that the request contains. `isChanged` is false if the notification had all these values.
   * @throws Problem `not_found`, `validation_failed`
   */
  change(tx: Transaction, id: string, input: NotificationChange, numbers?: ExactNumbers): Promise<ChangedNotification>;

  /** Deletes a notification. @throws Problem `not_found` */
  remove(tx: Transaction, id: string): Promise<void>;

  /** Deletes the notifications with these ids, one for each user. @returns the number of deleted notifications */
  removeAll(tx: Transaction, userIds: readonly string[], ids: readonly string[]): Promise<number>;
}

/** `types` contains the notification types that this installation uses. */
export interface NotificationsOptions extends PublisherOptions {
  /** For each notification type, the time before which notifications are no longer kept. */
  readonly retainedFrom?: () => Readonly<Record<string, string>>;
  /** Pauses loops over many rows, so that other requests can run. */
  readonly pacer: Pacer;
  /** The limit that all expensive requests of a user share. */
  readonly limitExpensive: ExpensiveReadLimit;
}

/** Creates the lists, changes and publishing of notifications. */
export function createNotifications(options: NotificationsOptions): Notifications {
  const { retainedFrom = () => ({}), pacer, limitExpensive, ...publisherOptions } = options;
  const { database, onChanged: notifyChanged, batching, types, imageUrlsOf } = publisherOptions;
  const list = async (userId: string, query: NotificationQuery): Promise<InboxPage | undefined> => {
    const page = await selectPage(database.user(userId), userId, query);
    if (page === undefined) return undefined;
    const { rows, ...rest } = page;
    const imageIds = new Set(rows.flatMap((row) => row.image_id ?? []));
    const images = await findImages(database, imageIds, imageUrlsOf);
    const [first, last] = [rows[0], rows.at(-1)];
    const places = first && last && { first: first.place ?? first.sequence, last: last.place ?? last.sequence };
    return { ...rest, items: rows.map((row) => listed(row, userId, images)), ...(places && { places }) };
  };
  return {
    ...createPublisher(publisherOptions),
    filterFields: notificationFilterFields(types),
    list,
    listOwn: (userId, query) =>
      isExpensive(query) ? limitExpensive(userId, () => list(userId, query)) : list(userId, query),
    state: batching
      ? createBatchLoader((userIds) => selectStates(database, userIds))
      : (userId) => selectState(database.user(userId), userId),
    extraState: (userId) => selectExtraState(database.user(userId), userId),
    async changes(userId, query) {
      const read = () => listChanges(database, imageUrlsOf, userId, query, pacer.begin());
      const changes = await (query.filter.length > 0 ? limitExpensive(userId, read) : read());
      return { ...changes, retained_from: { ...retainedFrom() } };
    },
    async change(tx, id, input, numbers = []) {
      const changed = await change(tx, publisherOptions, id, input, numbers[0]);
      tx.onCommit(() => notifyChanged([changed.notification.user_id]));
      return changed;
    },
    async remove(tx, id) {
      const userId = await remove(tx, id);
      tx.onCommit(() => notifyChanged([userId]));
    },
    async removeAll(tx, userIds, ids) {
      const removed = await removeAll(tx, userIds, ids);
      tx.onCommit(() => notifyChanged(userIds));
      return removed;
    },
  };
}

function listed(row: ListedRow, userId: string, images: ReadonlyMap<string, Image>): Notification {
  const { id, sequence, created_at, updated_at } = row;
  const generated = { id, user_id: userId, sequence, created_at, updated_at: updated_at ?? created_at };
  const notification: Notification = notificationOf(row, generated, images);
  if (hasExtras(row)) notification.extra = toExtra(row);
  return notification;
}

const hasExtras = (row: ListedRow): row is ListedRow & ExtraColumns => row.category !== undefined;
