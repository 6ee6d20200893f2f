import { setImmediate as turn } from 'node:timers/promises';
import type { Image, Notification, NotificationInput } from '../contract/notification.js';
import { prepared, type Queryable, type Transaction } from '../database/database.js';
import { orderedId, orderedIds } from '../lib/ids.js';
import { type FieldError, refuseFaults } from '../lib/problem.js';
import { instantsOfMicroseconds } from '../lib/times.js';
import { countFullBlocks } from './block-counts.js';
import { type ContentRules, contentFaults, contentOf, imageIds, imageUrls, type Written } from './content.js';
import { findImages, holdImages, referToImages } from './images/rows.js';
import { type Deliveries, insertMany, type Writing } from './publish-many.js';
import { type Created, type CreatedRow, insertOne, type NewRow } from './publish-queries.js';
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

/** Hears part by part of what is being written, in order. Nobody else may hear of it before it is committed. */
export type Hear = (part: readonly Notification[]) => void;

/**
 * Makes every notification of a request, or none: whoever calls must let the transaction fail when this throws.
 *
 * @param numbers of `writtenNumbers`
 * @param meanwhile called while the database is at it
 * @returns in the order of the request, and within an item in the order of its `user_ids`
 * @throws Problem `validation_failed` that names every fault; with the item's index where `request` is an array
 */
export async function publish(
  tx: Transaction,
  rules: PublishRules,
  request: NotificationInput | readonly NotificationInput[],
  numbers: readonly (string | undefined)[],
  meanwhile?: Hear,
): Promise<Notification[]> {
  const admitted = await admit(tx, rules, request, numbers);
  if (admitted.userIds.length === 1) {
    const notification = await publishAdmitted(admitted, async (row) => {
      const created = await insertOne(tx, row, rules.pushes);
      if (created?.isFull) await countFullBlocks(tx, [row.userId]);
      return created;
    });
    meanwhile?.([notification]);
    return [notification];
  }
  const prepare = async () => {
    await turn();
    return deliveriesOf(admitted);
  };
  const writing = await insertMany(tx, admitted.userIds, prepare, rules.pushes);
  if (writing.sequences.includes(0)) admitted.refuseMissing(writing.sequences);
  const telling = inParts(writing, admitted.images, meanwhile);
  await Promise.allSettled([telling, writing.written]);
  await writing.written;
  return telling;
}

/**
 * Makes the one notification of a request, as `publish` does, by a statement of the caller's.
 * @param insert makes what is undefined where the user does not exist
 * @throws Problem as `publish` does
 */
export async function publishOne(
  handle: Queryable,
  rules: PublishRules,
  request: NotificationInput,
  numbers: readonly (string | undefined)[],
  insert: (row: NewRow) => Promise<Created | undefined>,
): Promise<Notification> {
  return publishAdmitted(await admit(handle, rules, request, numbers), insert);
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
  return items.flatMap((item) => {
    const content = contentOf(item, new Map());
    return item.deliveries.map(({ userId }) => ({ id: orderedId(), userId, content }));
  });
}

/** A request in which nothing is to be refused, but for users that do not exist. */
interface Admitted {
  readonly items: readonly Item[];
  /** Of the deliveries. */
  readonly userIds: readonly string[];
  /** Images that were made of the URLs of this request. */
  readonly created: ReadonlyMap<string, Image>;
  /** All that the items show, by their ids. */
  readonly images: ReadonlyMap<string, Image>;
  /**
   * @param made what there is of each delivery: who got a row, or its number, exists
   * @throws Problem `validation_failed`
   */
  refuseMissing(made: readonly unknown[]): never;
}

async function admit(
  tx: Queryable,
  rules: PublishRules,
  request: NotificationInput | readonly NotificationInput[],
  numbers: readonly (string | undefined)[],
): Promise<Admitted> {
  const items = readItems(request, numbers);
  const found = await holdImages(tx, imageIds(items), rules.imageUrlsOf);
  if (requestFaults(items, rules, { images: found }).length > 0) {
    refuseFaults(requestFaults(items, rules, { images: found, users: await existingUsers(tx, items) }));
  }
  const created = await referToImages(tx, imageUrls(items));
  return {
    items,
    userIds: items.flatMap(({ deliveries }) => deliveries.map(({ userId }) => userId)),
    created,
    images: new Map([...found, ...byId(created)]),
    refuseMissing(made) {
      refuseFaults(requestFaults(items, rules, { images: found, users: usersOf(items, made) }));
      throw new Error('a notification was not made, but its user was found');
    },
  };
}

async function publishAdmitted(
  { items, userIds, created, images, refuseMissing }: Admitted,
  insert: (row: NewRow) => Promise<Created | undefined>,
): Promise<Notification> {
  const [[item], [userId]] = [items, userIds];
  if (item === undefined || userId === undefined) throw new Error('a request without anybody was not refused');
  const [id, content] = [orderedId(), contentOf(item, created)];
  const row = await insert({ id, userId, content });
  if (row === undefined) return refuseMissing([row]);
  return told(content, id, userId, row, images);
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

function deliveriesOf({ items, userIds, created }: Admitted): Deliveries {
  return {
    ids: orderedIds(userIds.length),
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

/**
 * The notifications that are being written, put together from what was sent and the numbers and times that the database
 * gave; in parts, so that between two of them what is still to be sent goes out, and others get their turn.
 */
async function inParts(
  { deliveries: { ids, userIds, items, contents }, sequences, times }: Writing,
  images: ReadonlyMap<string, Image>,
  hear: Hear | undefined,
): Promise<Notification[]> {
  const parts: Notification[][] = [];
  const instantOf = instantsOfMicroseconds();
  for (let from = 0; from < sequences.length; from += partLength) {
    await turn();
    const part = sequences.slice(from, from + partLength).map((sequence, index) => {
      const place = from + index;
      const [id, userId, content] = [ids[place], userIds[place], contents[(items[place] ?? 0) - 1]];
      if (id === undefined || userId === undefined || content === undefined)
        throw new Error('more was made than asked for');
      return told(content, id, userId, { sequence, created_at: instantOf(times[place] ?? 0n) }, images);
    });
    hear?.(part);
    parts.push(part);
  }
  return parts.flat();
}

/** What is told of a notification that was just made: nothing that was sent to the database comes back. */
function told(
  content: Content,
  id: string,
  user_id: string,
  { sequence, created_at }: CreatedRow,
  images: ReadonlyMap<string, Image>,
): Notification {
  return notificationOf(content, { id, user_id, sequence, created_at, updated_at: created_at }, images);
}
