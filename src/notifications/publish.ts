import { setImmediate as turn } from 'node:timers/promises';
import type { Image, Notification, NotificationInput } from '../contract/notification.js';
import { prepared, type Queryable } from '../database/database.js';
import { orderedIds } from '../lib/ids.js';
import { type FieldError, refuseFaults } from '../lib/problem.js';
import { instantsOfMicroseconds } from '../lib/times.js';
import { countFullBlocks } from './block-counts.js';
import { type ContentRules, contentFaults, contentOf, imageIds, imageUrls, type Written } from './content.js';
import { findImages, holdImages, referToImages } from './images/rows.js';
import { insertMany, type Writing } from './publish-many.js';
import { type Created, type Deliveries, insertOne } from './publish-queries.js';
import { type Content, notificationOf } from './row.js';

/** Notifications that are put together in one go: as many as take a millisecond. */
const partLength = 250;

/** Notifications that one request may make. */
export const maxDeliveries = 10_000;

/** One notification that is to be made. */
interface Delivery {
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

/** How a request is published. */
export interface PublishOptions {
  /** Makes what is one notification of a user that exists. */
  readonly insertOne?: (delivery: Deliveries) => Promise<Created>;
  /**
   * Hears part by part of what is being written, in the order of the result, while the database is at it. Nobody else may
   * hear of it before it is committed.
   */
  readonly meanwhile?: ((part: readonly Notification[]) => void) | undefined;
}

/**
 * Makes every notification of a request, or none: whoever calls must let the transaction fail when this throws.
 *
 * @param numbers of `writtenNumbers`
 * @returns in the order of the request, and within an item in the order of its `user_ids`
 * @throws Problem `validation_failed` that names every fault; with the item's index where `request` is an array
 */
export async function publish(
  tx: Queryable,
  rules: PublishRules,
  request: NotificationInput | readonly NotificationInput[],
  numbers: readonly (string | undefined)[],
  { insertOne: insert = (delivery) => insertAndCount(tx, delivery, rules.pushes), meanwhile }: PublishOptions = {},
): Promise<Notification[]> {
  const items = readItems(request, numbers);
  const found = await holdImages(tx, imageIds(items), rules.imageUrlsOf);
  if (requestFaults(items, rules, { images: found }).length > 0) {
    refuseFaults(requestFaults(items, rules, { images: found, users: await existingUsers(tx, items) }));
  }

  const created = await referToImages(tx, imageUrls(items));
  const images = new Map([...found, ...byId(created)]);
  // The only thing that can be missing now is a user, and who got a row, or its number, exists.
  const refuseMissing = (rows: readonly unknown[]) => {
    if (rows.every(Boolean)) return;
    refuseFaults(requestFaults(items, rules, { images: found, users: usersOf(items, rows) }));
    throw new Error('a notification was not made, but its user was found');
  };
  const userIds = items.flatMap(({ deliveries }) => deliveries.map(({ userId }) => userId));
  if (userIds.length === 1) {
    const delivery = deliveriesOf(items, userIds, created);
    const { rows } = await insert(delivery);
    refuseMissing(rows);
    const notifications = notificationsOf(delivery, rows, images);
    meanwhile?.(notifications);
    return notifications;
  }
  const prepare = async () => {
    await turn();
    return deliveriesOf(items, userIds, created);
  };
  const writing = await insertMany(tx, userIds, prepare, rules.pushes);
  refuseMissing(writing.sequences);
  const [notifications] = await Promise.all([inParts(writing, images, meanwhile), writing.written]);
  return notifications;
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
  const items = requests.map((input, index) => readItem({ input, path: '', number: numbers[index] }));
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
  const nextId = orderedIds();
  return items.flatMap((item) => {
    const content = contentOf(item, new Map());
    return item.deliveries.map(({ userId }) => ({ id: nextId(), userId, content }));
  });
}

async function insertAndCount(tx: Queryable, delivery: Deliveries, pushes: boolean): Promise<Created> {
  const created = await insertOne(tx, delivery, pushes);
  await countFullBlocks(tx, created.full);
  return created;
}

function readItems(
  request: NotificationInput | readonly NotificationInput[],
  numbers: readonly (string | undefined)[],
): Item[] {
  return isMany(request)
    ? request.map((input, index) => readItem({ input, path: `${index}.`, number: numbers[index] }))
    : [readItem({ input: request, path: '', number: numbers[0] })];
}

function isMany<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

function readItem({ input, path, number }: Written<NotificationInput>): Item {
  const delivery = (id: string, place?: number) => ({ userId: id.toLowerCase(), place });
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

function deliveriesOf(
  items: readonly Item[],
  userIds: readonly string[],
  created: ReadonlyMap<string, Image>,
): Deliveries {
  return {
    ids: userIds.map(orderedIds()),
    userIds,
    items: items.flatMap((item, index) => item.deliveries.map(() => index + 1)),
    contents: items.map((item) => contentOf(item, created)),
  };
}

/** Who got these rows. */
function usersOf(items: readonly Item[], rows: readonly unknown[]): Set<string> {
  const deliveries = items.flatMap((item) => item.deliveries);
  return new Set(deliveries.filter((_, place) => Boolean(rows[place])).map(({ userId }) => userId));
}

function byId(images: ReadonlyMap<string, Image>): Map<string, Image> {
  return new Map([...images.values()].map((image) => [image.id, image]));
}

/** The same in parts, so that between two of them what is still to be sent goes out, and others get their turn. */
async function inParts(
  { deliveries, sequences, times }: Writing,
  images: ReadonlyMap<string, Image>,
  hear: PublishOptions['meanwhile'],
): Promise<Notification[]> {
  const parts: Notification[][] = [];
  const instantOf = instantsOfMicroseconds();
  for (let from = 0; from < sequences.length; from += partLength) {
    await turn();
    const created = sequences.slice(from, from + partLength).map((sequence, index) => {
      return { sequence, created_at: instantOf(times[from + index] ?? 0n) };
    });
    const part = notificationsOf(deliveries, created, images, from);
    hear?.(part);
    parts.push(part);
  }
  return parts.flat();
}

/**
 * The notifications that were made, or some of them. They are put together here, from what was stored and the numbers and
 * times that the database gave: nothing that was sent there comes back.
 */
function notificationsOf(
  { ids, userIds, items, contents }: Deliveries,
  rows: Created['rows'],
  images: ReadonlyMap<string, Image>,
  first = 0,
): Notification[] {
  return rows.map((row, index) => {
    const place = first + index;
    const [id, userId, content] = [ids[place], userIds[place], contents[(items[place] ?? 0) - 1]];
    if (row === undefined || id === undefined || userId === undefined || content === undefined) {
      throw new Error('what is told was not made');
    }
    const { sequence, created_at } = row;
    return notificationOf(content, { id, user_id: userId, sequence, created_at, updated_at: created_at }, images);
  });
}
