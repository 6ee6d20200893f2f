import type { Image, Notification, NotificationInput } from '../contract/notification.js';
import { prepared, type Queryable } from '../database/database.js';
import { orderedIds } from '../lib/ids.js';
import { type FieldError, refuseFaults } from '../lib/problem.js';
import { countFullBlocks } from './block-counts.js';
import { type ContentRules, contentFaults, contentOf, imageIds, imageUrls, type Written } from './content.js';
import { findImages, holdImages, referToImages } from './images/rows.js';
import { type Columns, type Created, insertNotifications } from './publish-queries.js';
import { type Content, notificationOf } from './row.js';

/** Notifications that one request may make. */
export const maxDeliveries = 10_000;

/** One notification that is to be made. */
interface Delivery {
  readonly id: string;
  readonly userId: string;
  /** Where the item's `user_ids` name the user; undefined: its `user_id` does. */
  readonly place: number | undefined;
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
  insert: (columns: Columns) => Promise<Created> = (columns) => insertAndCount(tx, columns, rules.pushes),
): Promise<Notification[]> {
  const items = readItems(request, numbers);
  const found = await holdImages(tx, imageIds(items), rules.imageUrlsOf);
  if (requestFaults(items, rules, { images: found }).length > 0) {
    refuseFaults(requestFaults(items, rules, { images: found, users: await existingUsers(tx, items) }));
  }

  const created = await referToImages(tx, imageUrls(items));
  const contents = items.map((item) => contentOf(item, created));
  const { rows } = await insert(statementValues(items, contents));
  const result = inOrder(items, contents, rows, new Map([...found, ...byId(created)]));
  // The only thing that can be missing now is a user, and who got a row exists.
  if (result === undefined) {
    refuseFaults(requestFaults(items, rules, { images: found, users: usersOf(items, rows) }));
    throw new Error('a notification was not made, but its user was found');
  }
  return result;
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
  const nextId = orderedIds();
  const items = requests.map((input, index) => readItem({ input, path: '', number: numbers[index] }, nextId));
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

async function insertAndCount(tx: Queryable, columns: Columns, pushes: boolean): Promise<Created> {
  const created = await insertNotifications(tx, columns, pushes);
  await countFullBlocks(tx, created.full);
  return created;
}

function readItems(
  request: NotificationInput | readonly NotificationInput[],
  numbers: readonly (string | undefined)[],
): Item[] {
  const nextId = orderedIds();
  return isMany(request)
    ? request.map((input, index) => readItem({ input, path: `${index}.`, number: numbers[index] }, nextId))
    : [readItem({ input: request, path: '', number: numbers[0] }, nextId)];
}

function isMany<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

function readItem({ input, path, number }: Written<NotificationInput>, nextId: () => string): Item {
  const delivery = (id: string, place?: number) => ({ id: nextId(), userId: id.toLowerCase(), place });
  const deliveries = input.user_ids?.map(delivery) ?? [];
  if (input.user_id !== undefined) deliveries.unshift(delivery(input.user_id));
  return { input, number, path, deliveries };
}

function requestFaults(items: readonly Item[], rules: ContentRules, known: Known): FieldError[] {
  const faults: FieldError[] = [];
  for (const item of items)
    faults.push(...recipientFaults(item, known.users), ...contentFaults(item, rules, known.images));
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
  for (const { userId, place } of deliveries) {
    const field = () => path + (place === undefined ? 'user_id' : `user_ids.${place}`);
    if (seen.has(userId)) faults.push({ field: field(), code: 'duplicate_items' });
    else if (users?.has(userId) === false) faults.push({ field: field(), code: 'unknown_user' });
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

/** Who got these rows. */
function usersOf(items: readonly Item[], rows: Created['rows']): Set<string> {
  const deliveries = items.flatMap((item) => item.deliveries);
  return new Set(deliveries.filter((_, place) => rows[place] !== undefined).map(({ userId }) => userId));
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
  rows: Created['rows'],
  images: ReadonlyMap<string, Image>,
): Notification[] | undefined {
  let place = 0;
  const notifications: Notification[] = [];
  for (const [index, { deliveries }] of items.entries()) {
    const content = contents[index];
    for (const { id, userId } of deliveries) {
      const row = rows[place++];
      if (row === undefined || content === undefined) return undefined;
      const { sequence, created_at } = row;
      const made = { id, user_id: userId, sequence, created_at, updated_at: created_at };
      notifications.push(notificationOf(content, made, images));
    }
  }
  return notifications;
}
