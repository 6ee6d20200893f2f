import type { Image } from '../../contract/image.js';
import type { NotificationChange, NotificationInput } from '../../contract/notification.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { nearest } from '../../lib/nearest.js';
import { choiceError, type FieldError, throwIfErrors } from '../../lib/problem.js';
import type { KnownCategories } from '../categories/categories.js';
import { findAndLockImages, findImages, referToImages } from '../images/rows.js';
import { type CheckUrl, type ImageUrls, imageUrlError } from '../images/url.js';
import { decimal, type InputItem, isGiven } from './content.js';
import { extraErrors } from './extra-errors.js';
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

/** The rules of an installation for the content of notifications. */
export interface ContentRules {
  readonly types: readonly string[];
  readonly checkUrl: CheckUrl;
  readonly categories: KnownCategories;
  /** The URLs of uploaded images. */
  readonly imageUrlsOf: ImageUrls;
}

export interface PublishRules extends ContentRules {
  /** Whether notifications are pushed. If so, each request adds a row for the push relay. */
  readonly pushes: boolean;
}

/** The images that items show. */
export interface ItemImages {
  /** All of them, by id. */
  readonly byId: ReadonlyMap<string, Image>;
  /** Those that were created from the URLs of the items, by URL. */
  readonly byUrl: ReadonlyMap<string, Image>;
}

const selectUsers = statement<{ userIds: readonly string[] }, { user_id: string }>(
  'inboxes_exist',
  (p) => sql`select user_id from inboxes where user_id = any (${p.userIds}::uuid[])`,
);

/** Reads a request. The fields of an array's items are named with the item's index: `3.description`. */
export function readItems(request: PublishRequest, numbers: ExactNumbers): Item[] {
  return isMany(request)
    ? request.map((input, index) => readItem(input, numbers[index], `${index}.`))
    : [readItem(request, numbers[0])];
}

function isMany<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** Reads one item. @param path the prefix of field names in errors */
export function readItem(input: NotificationInput, exactNumber: string | undefined, path = ''): Item {
  const delivery = (id: string, place?: number) => ({ userId: id.toLowerCase(), place });
  const deliveries = input.user_ids?.map(delivery) ?? [];
  if (input.user_id !== undefined) deliveries.unshift(delivery(input.user_id));
  return { input, exactNumber, path, deliveries };
}

/**
 * Validates items that are about to be published. It locks the images that they show until the transaction ends, and creates those that
 * they name by URL.
 *
 * It does not check whether the users exist: the statement that inserts finds out, and then `refuseMissing` refuses the items. Users are
 * looked up only when the request is refused anyway, so that the answer lists every error.
 * @throws Problem `validation_failed` with all errors, also for users that do not exist
 */
export async function validateItems(
  handle: Queryable,
  items: readonly Item[],
  rules: ContentRules,
): Promise<ItemImages> {
  if (items.some(({ input }) => isGiven(input.category)))
    await rules.categories.refreshFor(handle, categoriesOf(items));
  const found = await findAndLockImages(handle, imageIds(items), rules.imageUrlsOf);
  if (requestErrors(items, rules, found).length > 0) {
    throwIfErrors(requestErrors(items, rules, found, await existingUsers(handle, items)));
  }
  const byUrl = await referToImages(handle, imageUrls(items));
  if (byUrl.size === 0) return { byId: found, byUrl };
  return { byId: new Map([...found, ...[...byUrl.values()].map((image) => [image.id, image] as const)]), byUrl };
}

/**
 * Refuses valid items because users do not exist.
 * @param users the users that exist
 * @throws Problem `validation_failed`
 */
export function refuseMissing(
  items: readonly Item[],
  rules: ContentRules,
  images: ItemImages,
  users: ReadonlySet<string>,
): never {
  throwIfErrors(requestErrors(items, rules, images.byId, users));
  throw new Error('a notification was not inserted, but its user exists');
}

/**
 * The errors for which each of these groups of items would be refused. Writes nothing.
 * @returns the errors of each group, also for users that do not exist
 */
export async function errorsOfGroups(
  handle: Queryable,
  groups: readonly (readonly Item[])[],
  rules: ContentRules,
): Promise<FieldError[][]> {
  const items = groups.flat();
  await rules.categories.refreshFor(handle, categoriesOf(items));
  const users = await existingUsers(handle, items);
  const images = await findImages(handle, imageIds(items), rules.imageUrlsOf);
  const suggestions: Suggestions = new Map();
  return groups.map((group) => requestErrors(group, rules, images, users, suggestions));
}

/** @param users the users that exist; undefined: do not check users */
function requestErrors(
  items: readonly Item[],
  rules: ContentRules,
  images: ReadonlyMap<string, Image>,
  users?: ReadonlySet<string>,
  suggestions: Suggestions = new Map(),
): FieldError[] {
  const errors: FieldError[] = [];
  for (const item of items) {
    errors.push(...recipientErrors(item, users), ...contentErrors(item, rules, images));
    errors.push(...categoryErrors(item, rules, suggestions));
  }
  errors.push(...repeatedKeys(items));
  errors.push(...deliveryLimitErrors(items.reduce((sum, { deliveries }) => sum + deliveries.length, 0)));
  return errors;
}

/**
 * Errors that the schema does not find.
 * @param images the existing images among those of `imageIds`
 */
export function contentErrors(
  { input, exactNumber, path }: InputItem<NotificationInput | NotificationChange>,
  { types, checkUrl }: ContentRules,
  images: ReadonlyMap<string, Image>,
): FieldError[] {
  const errors: FieldError[] = [];
  const { notification_type: type, object_data_number: value, image_id: imageId, image: imageUrl } = input;
  if (type !== undefined && !types.includes(type)) {
    errors.push(choiceError(`${path}notification_type`, types));
  }
  if (isGiven(value) && decimal(exactNumber ?? String(value)) === undefined) {
    errors.push({ field: `${path}object_data_number`, code: 'invalid_number' });
  }
  if (isGiven(imageId) && isGiven(imageUrl)) {
    errors.push({ field: `${path}image`, code: 'conflicting_fields', params: { fields: 'image_id, image' } });
  }
  if (isGiven(imageId) && !images.has(imageId.toLowerCase())) {
    errors.push({ field: `${path}image_id`, code: 'unknown_image' });
  }
  const urlError = isGiven(imageUrl) ? imageUrlError(imageUrl, `${path}image`, checkUrl) : undefined;
  if (urlError !== undefined) errors.push(urlError);
  errors.push(...extraErrors(input, path));
  return errors;
}

/** The right names for unknown ones. */
type Suggestions = Map<string, string | undefined>;

/**
 * The number of unknown names for which the answer suggests a similar one. Each comparison with all categories takes a millisecond or more.
 */
const maxSuggestions = 20;

/** The errors of an unknown category, and of `data` that does not match the schema of its category. */
function categoryErrors({ input, path }: Item, { categories }: ContentRules, suggestions: Suggestions): FieldError[] {
  const { category, notification_type: type, data } = input;
  const name = category ?? type;
  if (categories.get(name) !== undefined) return categories.dataErrors(name, data, `${path}data`);
  // An unknown type is reported as such.
  if (!isGiven(category)) return [];
  if (!suggestions.has(name) && suggestions.size < maxSuggestions) {
    suggestions.set(name, nearest(name, categories.names()));
  }
  const suggestion = suggestions.get(name);
  const params = suggestion === undefined ? {} : { suggestion };
  return [{ field: `${path}category`, code: 'unknown_category', params }];
}

/** The categories that the items name. */
const categoriesOf = (items: readonly Item[]) => items.flatMap(({ input }) => input.category ?? []);

/** One request cannot replace what it publishes itself. */
function repeatedKeys(items: readonly Item[]): FieldError[] {
  if (items.length < 2) return [];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const { input, path, deliveries } of items) {
    if (!isGiven(input.replace_key)) continue;
    const keys = deliveries.map(({ userId }) => `${userId} ${input.replace_key}`);
    if (keys.some((key) => seen.has(key))) errors.push({ field: `${path}replace_key`, code: 'duplicate_items' });
    for (const key of keys) seen.add(key);
  }
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

/** The ids of the images that the items refer to, in lower case. */
export function imageIds(items: readonly InputItem<NotificationInput | NotificationChange>[]): Set<string> {
  return new Set(items.flatMap(({ input }) => input.image_id?.toLowerCase() ?? []));
}

/** The URLs of the images that the items show. */
export function imageUrls(items: readonly InputItem<NotificationInput | NotificationChange>[]): Set<string> {
  return new Set(items.flatMap(({ input }) => input.image ?? []));
}
