import type { Changes } from '../contract/changes.js';
import type { Image, Notification, NotificationChange, NotificationInput } from '../contract/notification.js';
import { batched } from '../database/batched.js';
import type { Database, Transaction } from '../database/database.js';
import type { FilterFields } from '../lib/filter/fields.js';
import type { Pacer } from '../lib/pacing.js';
import type { FieldError } from '../lib/problem.js';
import { change, remove } from './change.js';
import { type ChangesQuery, listChanges } from './changes.js';
import { notificationFilterFields } from './filter-fields.js';
import { findImages } from './images/rows.js';
import type { CheckUrl, ImageUrls } from './images/url.js';
import {
  type InboxState,
  isCostly,
  type ListedRow,
  type NotificationQuery,
  type PageOfRows,
  selectPage,
  selectState,
  selectStates,
} from './list-queries.js';
import { createListShares } from './list-shares.js';
import { faultsOfEach, type Hear, publish, tryPublish, type WouldBe } from './publish.js';
import { createOnePublisher } from './publish-one.js';
import { notificationOf } from './row.js';

/** One page of an inbox. */
export interface ListedPage extends Omit<PageOfRows, 'rows'> {
  readonly items: Notification[];
  /** Where the page's first and last row lie in the order that was asked for; absent for an empty page. */
  readonly places?: { readonly first: number; readonly last: number };
}

/** Users' inboxes. What takes `tx` must run in a transaction, and the transaction must fail when it throws. */
export interface Notifications {
  /** What inboxes can be filtered by. */
  readonly filterFields: FilterFields;

  /** One page of a user's inbox; undefined when there is no such user. */
  list(userId: string, query: NotificationQuery): Promise<ListedPage | undefined>;

  /** The same for the user, with a bound for costly queries. @throws Problem `too_many_requests`, `overloaded` */
  listOwn(userId: string, query: NotificationQuery): Promise<ListedPage | undefined>;

  /** The state of an inbox; undefined when there is no such user. Requests that arrive together share a query. */
  state(userId: string): Promise<InboxState | undefined>;

  /**
   * What has happened to an inbox since, with a bound for filters.
   * @throws Problem `invalid_session_token` when there is no such user; `too_many_requests`, `overloaded`
   */
  changes(userId: string, query: ChangesQuery): Promise<Changes>;

  /**
   * Makes every notification of a request, or none.
   * @param numbers what `writtenNumbers` says of the request's text
   * @param meanwhile as `publish` says
   * @returns in the order of the request, and within an item in the order of its `user_ids`
   * @throws Problem `validation_failed` that names every fault; with the item's index where `request` is an array
   */
  publish(
    tx: Transaction,
    request: NotificationInput | readonly NotificationInput[],
    numbers?: readonly (string | undefined)[],
    meanwhile?: Hear,
  ): Promise<Notification[]>;

  /**
   * Makes one notification of one user, and is done once that is committed.
   * @throws Problem `validation_failed` that names every fault
   */
  publishOne(request: NotificationInput, numbers?: readonly (string | undefined)[]): Promise<Notification>;

  /** Lists one without pushing it: whoever calls does that by itself. */
  note(tx: Transaction, input: NotificationInput): Promise<Notification>;

  /** What `publish` would refuse in each of these requests by itself. Makes nothing. */
  faultsOfEach(
    requests: readonly NotificationInput[],
    numbers: readonly (string | undefined)[],
  ): Promise<FieldError[][]>;

  /** What `publish` would make, after the same checks. Nothing is written. @throws Problem `validation_failed` */
  tryPublish(
    request: NotificationInput | readonly NotificationInput[],
    numbers?: readonly (string | undefined)[],
  ): Promise<WouldBe[]>;

  /** Changes the members that are present. @throws Problem `not_found`, `validation_failed` */
  change(
    tx: Transaction,
    id: string,
    input: NotificationChange,
    numbers?: readonly (string | undefined)[],
  ): Promise<Notification>;

  /** @throws Problem `not_found` */
  remove(tx: Transaction, id: string): Promise<void>;
}

export interface NotificationsOptions {
  readonly database: Database;
  /** The types that may be published. */
  readonly types: readonly string[];
  /** Whether clients may be sent to the URL of an image. */
  readonly checkUrl: CheckUrl;
  /** Where uploaded images are. */
  readonly imageUrlsOf: ImageUrls;
  /** Hears of the users in whose inboxes something was made, changed or deleted, once it is committed. */
  readonly changed: (userIds: readonly string[]) => void;
  /** By notification type: the time before which notifications are no longer kept. */
  readonly retainedFrom?: () => Readonly<Record<string, string>>;
  /** Hears that something was published and committed. Without it nothing is left for push. */
  readonly published?: () => void;
  /** Whether single notifications that are published together are made by one statement. */
  readonly batching: boolean;
  /** Of loops over what was read for a client. */
  readonly pacer: Pacer;
  /** Of the database's pool. */
  readonly connections: number;
}

export function createNotifications(options: NotificationsOptions): Notifications {
  const {
    database,
    changed,
    retainedFrom = () => ({}),
    published: onPublished,
    batching,
    pacer,
    connections,
    ...contentRules
  } = options;
  const rules = { ...contentRules, pushes: onPublished !== undefined };
  const share = createListShares({ connections });
  const publishOne = createOnePublisher(database, rules, batching);
  const list = async (userId: string, query: NotificationQuery): Promise<ListedPage | undefined> => {
    const page = await selectPage(database, userId, query);
    if (page === undefined) return undefined;
    const { rows, ...rest } = page;
    const shown = new Set(rows.flatMap((row) => row.image_id ?? []));
    const images = await findImages(database, shown, rules.imageUrlsOf);
    const [first, last] = [rows[0], rows.at(-1)];
    const places = first && last && { first: first.place ?? first.sequence, last: last.place ?? last.sequence };
    return { ...rest, items: rows.map((row) => listed(row, userId, images)), ...(places && { places }) };
  };
  return {
    filterFields: notificationFilterFields(rules.types),
    list,
    listOwn: (userId, query) => (isCostly(query) ? share(userId, () => list(userId, query)) : list(userId, query)),
    state: batching ? batched((userIds) => selectStates(database, userIds)) : (userId) => selectState(database, userId),
    async changes(userId, query) {
      const read = () => listChanges(database, rules.imageUrlsOf, userId, query, pacer.begin());
      const changes = await (query.filter.length > 0 ? share(userId, read) : read());
      return { ...changes, retained_from: { ...retainedFrom() } };
    },
    async publish(tx, request, numbers = [], meanwhile) {
      const published = await publish(tx, rules, request, numbers, meanwhile);
      tx.onCommit(() => changed(published.map(({ user_id }) => user_id)));
      if (onPublished !== undefined) tx.onCommit(onPublished);
      return published;
    },
    async publishOne(request, numbers = []) {
      const notification = await publishOne(request, numbers);
      changed([notification.user_id]);
      onPublished?.();
      return notification;
    },
    async note(tx, input) {
      const [notification] = await publish(tx, { ...rules, pushes: false }, input, []);
      if (notification === undefined) throw new Error('nothing was listed');
      tx.onCommit(() => changed([notification.user_id]));
      return notification;
    },
    tryPublish: (request, numbers = []) => tryPublish(database, rules, request, numbers),
    async change(tx, id, input, numbers = []) {
      const notification = await change(tx, rules, id, input, numbers[0]);
      tx.onCommit(() => changed([notification.user_id]));
      return notification;
    },
    async remove(tx, id) {
      const userId = await remove(tx, id);
      tx.onCommit(() => changed([userId]));
    },
    faultsOfEach: (requests, numbers) => faultsOfEach(database, rules, requests, numbers),
  };
}

function listed(row: ListedRow, userId: string, images: ReadonlyMap<string, Image>): Notification {
  const { id, sequence, created_at, updated_at } = row;
  return notificationOf(
    row,
    { id, user_id: userId, sequence, created_at, updated_at: updated_at ?? created_at },
    images,
  );
}
