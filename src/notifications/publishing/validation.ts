import type { Image } from '../../contract/image.js';
import type { NotificationInput } from '../../contract/notification.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import { findAndLockImages, findImages } from '../images/rows.js';
import { type ContentRules, contentErrors, type InputItem, imageIds } from './content.js';
import { deliveryLimitErrors } from './limits.js';

/** A request: one notification, or several. */
export type PublishRequest = NotificationInput | readonly NotificationInput[];

/** The result of `exactNumbers` for a request: one element for each item. */
export type ExactNumbers = readonly (string | undefined)[];

/** One notification to publish. */
export interface Delivery {
  readonly userId: string;
  /** The user's place in the item's `user_ids`; undefined when the item has `user_id`. */
  readonly place: number | undefined;
}

/** One item of a request. */
export interface Item extends InputItem<NotificationInput> {
  readonly deliveries: readonly Delivery[];
}

const selectUsers = statement<{ userIds: readonly string[] }, { user_id: string }>(
  'inboxes_exist',
  (p) => sql`select user_id from inboxes where user_id = any (${p.userIds}::uuid[])`,
);

/** Reads a request. The fields of an array's items are named with the item's index: `3.description`. */
export function readItems(request: PublishRequest, numbers: ExactNumbers): Item[] {
  return isMany(request)
    ? request.map((input, index) => readItem({ input, path: `${index}.`, exactNumber: numbers[index] }))
    : [readItem({ input: request, path: '', exactNumber: numbers[0] })];
}

function isMany<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** Reads one item. */
export function readItem({ input, path, exactNumber }: InputItem<NotificationInput>): Item {
  const delivery = (id: string, place?: number) => ({ userId: id.toLowerCase(), place });
  const deliveries = input.user_ids?.map(delivery) ?? [];
  if (input.user_id !== undefined) deliveries.unshift(delivery(input.user_id));
  return { input, exactNumber, path, deliveries };
}

/**
 * Validates items that are about to be published, and locks the images that they show until the transaction ends.
 *
 * It does not check whether the users exist: the statement that inserts finds out. Users are looked up only when the
 * request is refused anyway, so that the answer lists every error.
 * @returns the images, by id
 * @throws Problem `validation_failed`
 */
export async function validateItems(
  handle: Queryable,
  items: readonly Item[],
  rules: ContentRules,
): Promise<Map<string, Image>> {
  const images = await findAndLockImages(handle, imageIds(items), rules.imageUrlsOf);
  if (requestErrors(items, rules, images).length > 0) await refuseItems(handle, items, rules, images);
  return images;
}

/** Refuses items that have errors. @throws Problem `validation_failed` with all errors, also for users that do not exist */
export async function refuseItems(
  handle: Queryable,
  items: readonly Item[],
  rules: ContentRules,
  images: ReadonlyMap<string, Image>,
): Promise<never> {
  throwIfErrors(requestErrors(items, rules, images, await existingUsers(handle, items)));
  throw new Error('items without errors were refused');
}

/**
 * Validates items that will not be written now. Each group is one request.
 * @returns the errors of each group
 */
export async function errorsOfGroups(
  handle: Queryable,
  groups: readonly (readonly Item[])[],
  rules: ContentRules,
): Promise<FieldError[][]> {
  const items = groups.flat();
  const users = await existingUsers(handle, items);
  const images = await findImages(handle, imageIds(items), rules.imageUrlsOf);
  return groups.map((group) => requestErrors(group, rules, images, users));
}

/** @param users the users that exist; undefined: do not check users */
export function requestErrors(
  items: readonly Item[],
  rules: ContentRules,
  images: ReadonlyMap<string, Image>,
  users?: ReadonlySet<string>,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const item of items) {
    errors.push(...recipientErrors(item, users), ...contentErrors(item, rules, images));
  }
  errors.push(...deliveryLimitErrors(items.reduce((sum, { deliveries }) => sum + deliveries.length, 0)));
  return errors;
}

function recipientErrors({ input, path, deliveries }: Item, users: ReadonlySet<string> | undefined): FieldError[] {
  const errors: FieldError[] = [];
  if (deliveries.length === 0) errors.push({ field: `${path}user_id`, code: 'required' });
  if (input.user_id !== undefined && input.user_ids !== undefined) {
    errors.push({ field: `${path}user_ids`, code: 'conflicting_fields', params: { fields: 'user_id, user_ids' } });
  }
  const seenIds = new Set<string>();
  for (const { userId, place } of deliveries) {
    const field = () => path + (place === undefined ? 'user_id' : `user_ids.${place}`);
    if (seenIds.has(userId)) errors.push({ field: field(), code: 'duplicate_items' });
    else if (users?.has(userId) === false) errors.push({ field: field(), code: 'unknown_user' });
    seenIds.add(userId);
  }
  return errors;
}

async function existingUsers(handle: Queryable, items: readonly Item[]): Promise<Set<string>> {
  const userIds = new Set(items.flatMap(({ deliveries }) => deliveries.map(({ userId }) => userId)));
  const rows = await handle.query(selectUsers({ userIds: [...userIds] }));
  return new Set(rows.map((row) => row.user_id));
}
