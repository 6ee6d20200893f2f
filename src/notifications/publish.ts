import type { Image, Notification, NotificationInput } from '../contract/notification.js';
import { type Database, prepared, type Queryable } from '../database/database.js';
import { together } from '../database/together.js';
import { newId } from '../lib/ids.js';
import { type FieldError, refuseFaults } from '../lib/problem.js';
import { type ContentRules, contentFaults, contentOf, imageIds, imageUrls, type Written } from './content.js';
import { findImages, holdImages, referToImages } from './images/rows.js';
import { type Columns, type CreatedRow, insertNotifications, insertTogether } from './publish-queries.js';
import { type Content, toNotification } from './row.js';

/** Notifications that one request may make. */
export const maxDeliveries = 10_000;

/** One notification that is to be made. */
interface Delivery {
  readonly id: string;
  readonly userId: string;
  /** Where the request names the user. */
  readonly field: string;
}

/** One item of a request. */
interface Item extends Written<NotificationInput> {
  readonly deliveries: readonly Delivery[];
}

export interface PublishRules extends ContentRules {
  /** Whether notifications are pushed: then the relay is told of them. */
  readonly pushes: boolean;
}

/** What exists of what a request names. Users are asked for only when the request is to be refused anyway. */
interface Known {
  readonly images: ReadonlyMap<string, Image>;
  readonly users?: ReadonlySet<string>;
}

const selectUsers = prepared('inboxes_exist', 'select user_id from inboxes where user_id = any ($1::uuid[])');

/**
 * Makes every notification of a request, or none: whoever calls must let the transaction fail when this throws.
 *
 * @param numbers of `writtenNumbers`
 * @param insert makes the rows of users that exist
 * @returns in the order of the request, and within an item in the order of its `user_ids`
 * @throws Problem `validation_failed` that names every fault; with the item's index where `request` is an array
 */
export async function publish(
  tx: Queryable,
  rules: PublishRules,
  request: NotificationInput | readonly NotificationInput[],
  numbers: readonly (string | undefined)[],
  insert: (columns: Columns) => Promise<CreatedRow[]> = (columns) => insertNotifications(tx, columns, rules.pushes),
): Promise<Notification[]> {
  const items = readItems(request, numbers);
  const found = await holdImages(tx, imageIds(items), rules.imageUrlsOf);
  if (requestFaults(items, rules, { images: found }).length > 0) {
    refuseFaults(requestFaults(items, rules, { images: found, users: await existingUsers(tx, items) }));
  }

  const created = await referToImages(tx, imageUrls(items));
  const contents = items.map((item) => contentOf(item, created));
  const rows = await insert(statementValues(items, contents));
  const result = inOrder(items, contents, rows, new Map([...found, ...byId(created)]));
  // The only thing that can be missing now is a user, and who got a row exists.
  if (result === undefined) {
    refuseFaults(requestFaults(items, rules, { images: found, users: new Set(rows.map((row) => row.user_id)) }));
    throw new Error('a notification was not made, but its user was found');
  }
  return result;
}

/**
 * One notification to one user, as `publish` makes it. Without an image it is one statement that commits by itself; what
 * is published meanwhile shares one.
 */
export function createOnePublisher(
  database: Pick<Database, 'query' | 'lane'>,
  rules: PublishRules,
  batching: boolean,
): (request: NotificationInput, numbers: readonly (string | undefined)[]) => Promise<Notification> {
  const insertAlone = ({ userId, columns }: Addressed) =>
    insertNotifications(database.lane(userId), columns, rules.pushes);
  const insert = batching
    ? together({
        alone: insertAlone,
        many: (requests: readonly Addressed[]) =>
          insertTogether(
            database,
            requests.map(({ columns }) => columns),
            rules.pushes,
          ),
      })
    : insertAlone;
  return async (request, numbers) => {
    const userId = request.user_id?.toLowerCase() ?? '';
    const inTurn = (columns: Columns) => insert({ userId, columns });
    const isShown = (request.image_id ?? request.image ?? null) !== null;
    const [notification] = isShown
      ? await database.lane(userId).transaction((tx) => publish(tx, rules, request, numbers))
      : await publish(database, rules, request, numbers, inTurn);
    if (notification === undefined) throw new Error('one notification was published, and none came of it');
    return notification;
  };
}

interface Addressed {
  readonly userId: string;
  readonly columns: Columns;
}

/**
 * What `publish` would refuse in each of these requests by itself, without making anything.
 *
 * @param numbers of `writtenNumbers`, one for each request
 */
export async function faultsOfEach(
  handle: Queryable,
  rules: ContentRules,
  requests: readonly NotificationInput[],
  numbers: readonly (string | undefined)[],
): Promise<FieldError[][]> {
  const items = requests.map((input, index) => readItem(input, '', numbers[index]));
  const users = await existingUsers(handle, items);
  const images = await findImages(handle, imageIds(items), rules.imageUrlsOf);
  return items.map((item) => requestFaults([item], rules, { images, users }));
}

/** A notification that publishing would make. */
export interface WouldBe {
  readonly id: string;
  readonly userId: string;
  readonly content: Content;
}

/**
 * What `publish` would make, after the same checks; nothing is written.
 * @throws Problem as `publish` does
 */
export async function tryPublish(
  handle: Queryable,
  rules: ContentRules,
  request: NotificationInput | readonly NotificationInput[],
  numbers: readonly (string | undefined)[],
): Promise<WouldBe[]> {
  const items = readItems(request, numbers);
  const images = await findImages(handle, imageIds(items), rules.imageUrlsOf);
  refuseFaults(requestFaults(items, rules, { images, users: await existingUsers(handle, items) }));
  return items.flatMap((item) => {
    const content = contentOf(item, new Map());
    return item.deliveries.map(({ id, userId }) => ({ id, userId, content }));
  });
}

function readItems(
  request: NotificationInput | readonly NotificationInput[],
  numbers: readonly (string | undefined)[],
): Item[] {
  return isMany(request)
    ? request.map((input, index) => readItem(input, `${index}.`, numbers[index]))
    : [readItem(request, '', numbers[0])];
}

function isMany<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

function readItem(input: NotificationInput, path: string, number: string | undefined): Item {
  const delivery = (id: string, field: string) => ({ id: newId(), userId: id.toLowerCase(), field: path + field });
  const one = input.user_id === undefined ? [] : [delivery(input.user_id, 'user_id')];
  const many = (input.user_ids ?? []).map((id, index) => delivery(id, `user_ids.${index}`));
  return { input, number, path, deliveries: [...one, ...many] };
}

function requestFaults(items: readonly Item[], rules: ContentRules, known: Known): FieldError[] {
  const faults = items.flatMap((item) => [
    ...recipientFaults(item, known.users),
    ...contentFaults(item, rules, known.images),
  ]);
  const total = items.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
  if (total > maxDeliveries) faults.push({ code: 'too_many_deliveries', params: { max: maxDeliveries } });
  return faults;
}

function recipientFaults({ input, path, deliveries }: Item, users: ReadonlySet<string> | undefined): FieldError[] {
  const faults: FieldError[] = [];
  if (deliveries.length === 0) faults.push({ field: `${path}user_id`, code: 'required' });
  if (input.user_id !== undefined && input.user_ids !== undefined) {
    faults.push({ field: `${path}user_ids`, code: 'conflicting_fields', params: { fields: 'user_id, user_ids' } });
  }
  const seen = new Set<string>();
  for (const { userId, field } of deliveries) {
    if (seen.has(userId)) faults.push({ field, code: 'duplicate_items' });
    else if (users?.has(userId) === false) faults.push({ field, code: 'unknown_user' });
    seen.add(userId);
  }
  return faults;
}

async function existingUsers(tx: Queryable, items: readonly Item[]): Promise<Set<string>> {
  const ids = new Set(items.flatMap(({ deliveries }) => deliveries.map(({ userId }) => userId)));
  const rows = await tx.query<{ user_id: string }>(selectUsers, [[...ids]]);
  return new Set(rows.map((row) => row.user_id));
}

function statementValues(items: readonly Item[], contents: readonly Content[]): Columns {
  const deliveries = items.flatMap((item) => item.deliveries);
  const column = (name: keyof Content) => contents.map((content) => content[name]);
  return [
    deliveries.map(({ id }) => id),
    deliveries.map(({ userId }) => userId),
    // Which of the contents, counted from 1 as WITH ORDINALITY does.
    items.flatMap((item, index) => item.deliveries.map(() => index + 1)),
    column('actor_id'),
    column('actor'),
    column('notification_type'),
    column('notification_key'),
    column('object_id'),
    column('object_data_number'),
    column('object_data_string'),
    column('description'),
    column('image_id'),
  ];
}

function byId(images: ReadonlyMap<string, Image>): Map<string, Image> {
  return new Map([...images.values()].map((image) => [image.id, image]));
}

/**
 * The notifications in the order of the request, or undefined when one was not made. They are put together here, from
 * what was stored and the numbers and times that the database gave: nothing that was sent there comes back.
 */
function inOrder(
  items: readonly Item[],
  contents: readonly Content[],
  rows: readonly CreatedRow[],
  images: ReadonlyMap<string, Image>,
): Notification[] | undefined {
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  const notifications: Notification[] = [];
  for (const [index, { deliveries }] of items.entries()) {
    const content = contents[index];
    /** What all of an item have in common is put together with the first of them. */
    let common: Notification | undefined;
    for (const { id } of deliveries) {
      const row = rowsById.get(id);
      if (row === undefined || content === undefined) return undefined;
      const { user_id, sequence, created_at } = row;
      common ??= toNotification({ ...content, ...row, updated_at: created_at }, images);
      notifications.push({ ...common, id, user_id, sequence, created_at, updated_at: created_at });
    }
  }
  return notifications;
}
