import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Image } from '../../contract/image.js';
import type { Notification, NotificationInput } from '../../contract/notification.js';
import type { Queryable, Transaction } from '../../database/database.js';
import { orderedId, orderedIds } from '../../lib/ids.js';
import { type FieldError, throwIfErrors } from '../../lib/problem.js';
import { instantsOfMicroseconds } from '../../lib/times.js';
import { referToImages } from '../images/rows.js';
import { countFullBlocks } from '../inbox/block-counts.js';
import { type Content, notificationOf } from '../inbox/row.js';
import { type ContentRules, contentOf, imageUrls } from './content.js';
import { type Deliveries, insertMany, type PendingInsert } from './publish-many.js';
import { type Created, type CreatedRow, insertOne, type NewRow } from './publish-queries.js';
import {
  type ExactNumbers,
  errorsOfGroups,
  type Item,
  type PublishRequest,
  readItem,
  readItems,
  refuseItems,
  requestErrors,
  validateItems,
} from './validation.js';

/** The number of notifications that one turn of the event loop builds. This takes about a millisecond. */
const partLength = 250;

export interface PublishRules extends ContentRules {
  /** Whether notifications are pushed. If so, each publication adds a row for the push relay. */
  readonly pushes: boolean;
}

/**
 * Called with each part of the notifications, in order. Do not show a part to clients before the transaction commits.
 */
export type OnPart = (part: readonly Notification[]) => void;

/**
 * Publishes every notification of a request, or none: the caller must let the transaction fail when this throws.
 *
 * @param numbers the result of `exactNumbers`
 * @param onPart called while the database inserts
 * @returns the notifications in the order of the request's items, and for each item in the order of its `user_ids`
 * @throws Problem `validation_failed` with every error. If `request` is an array, the field names begin with the item's
 *   index
 */
export async function publish(
  tx: Transaction,
  rules: PublishRules,
  request: PublishRequest,
  numbers: ExactNumbers,
  onPart?: OnPart,
): Promise<Notification[]> {
  const validated = await validate(tx, rules, request, numbers);
  if (validated.userIds.length === 1) {
    const notification = await publishValidated(validated, async (row) => {
      const createdRow = await insertOne(tx, row, rules.pushes);
      if (createdRow?.isFull) await countFullBlocks(tx, [row.userId]);
      return createdRow;
    });
    onPart?.([notification]);
    return [notification];
  }
  const prepare = async () => {
    await nextTurn();
    return deliveriesOf(validated);
  };
  const pending = await insertMany(tx, validated.userIds, prepare, rules.pushes);
  if (pending.sequences.includes(0)) validated.refuseMissing(pending.sequences);
  const notifications = buildInParts(pending, validated.images, onPart);
  await Promise.allSettled([notifications, pending.inserted]);
  await pending.inserted;
  return notifications;
}

const noImages: ReadonlyMap<string, Image> = new Map();

/**
 * Publishes the one notification of a request without an image, as `publish` does, with a statement that the caller
 * passes.
 * @param insert returns undefined when the user does not exist
 * @throws Problem as `publish` does
 */
export async function publishOne(
  handle: Queryable,
  rules: PublishRules,
  request: NotificationInput,
  numbers: ExactNumbers,
  insert: (row: NewRow) => Promise<Created | undefined>,
): Promise<Notification> {
  const item = readItem({ input: request, path: '', exactNumber: numbers[0] });
  const [delivery] = item.deliveries;
  if (delivery === undefined || requestErrors([item], rules, noImages).length > 0) {
    return refuseItems(handle, [item], rules, noImages);
  }
  const { userId } = delivery;
  const [id, content] = [orderedId(), contentOf(item, noImages)];
  const row = await insert({ id, userId, content });
  if (row === undefined) return refuseMissing([item], rules, noImages, [row]);
  return toNotification(content, id, userId, row, noImages);
}

/**
 * The errors for which `publish` would refuse each of these requests if it were sent alone. Writes nothing.
 * @param numbers the exact numbers, one for each request
 */
export async function validateEach(
  handle: Queryable,
  rules: ContentRules,
  requests: readonly NotificationInput[],
  numbers: ExactNumbers,
): Promise<FieldError[][]> {
  const items = requests.map((input, index) => readItem({ input, path: '', exactNumber: numbers[index] }));
  return errorsOfGroups(
    handle,
    items.map((item) => [item]),
    rules,
  );
}

/** A notification that publishing would create. */
export interface PlannedNotification {
  readonly id: string;
  readonly userId: string;
  readonly content: Content;
}

/**
 * The notifications that `publish` would create, after the same checks. Writes nothing.
 * @throws Problem as `publish` does
 */
export async function planNotifications(
  handle: Queryable,
  rules: ContentRules,
  request: PublishRequest,
  numbers: ExactNumbers,
): Promise<PlannedNotification[]> {
  const items = readItems(request, numbers);
  const [errors = []] = await errorsOfGroups(handle, [items], rules);
  throwIfErrors(errors);
  return items.flatMap((item) => {
    const content = contentOf(item, new Map());
    return item.deliveries.map(({ userId }) => ({ id: orderedId(), userId, content }));
  });
}

/** A request that is valid, unless one of its users does not exist. */
interface ValidRequest {
  readonly items: readonly Item[];
  /** The users of the deliveries, in their order. */
  readonly userIds: readonly string[];
  /** Images that were created from the URLs of this request, by URL. */
  readonly created: ReadonlyMap<string, Image>;
  /** All images that the items show, by id. */
  readonly images: ReadonlyMap<string, Image>;
  /** Refuses this request because users do not exist. */
  refuseMissing(inserted: readonly unknown[]): never;
}

async function validate(
  handle: Queryable,
  rules: PublishRules,
  request: PublishRequest,
  numbers: ExactNumbers,
): Promise<ValidRequest> {
  const items = readItems(request, numbers);
  const validItems = await validateItems(handle, items, rules);
  const newImages = await referToImages(handle, imageUrls(items));
  const createdById = [...newImages.values()].map((image) => [image.id, image] as const);
  return {
    items,
    userIds: items.flatMap(({ deliveries }) => deliveries.map(({ userId }) => userId)),
    created: newImages,
    images: new Map([...validItems, ...createdById]),
    refuseMissing: (inserted) => refuseMissing(items, rules, validItems, inserted),
  };
}

/**
 * Refuses a request because users do not exist.
 * @param inserted the row or the sequence of each delivery; a falsy value if the user does not exist
 * @throws Problem `validation_failed`
 */
function refuseMissing(
  items: readonly Item[],
  rules: ContentRules,
  images: ReadonlyMap<string, Image>,
  inserted: readonly unknown[],
): never {
  throwIfErrors(requestErrors(items, rules, images, usersOf(items, inserted)));
  throw new Error('a notification was not inserted, but its user exists');
}

async function publishValidated(
  { items, userIds, created, images, refuseMissing }: ValidRequest,
  insert: (row: NewRow) => Promise<Created | undefined>,
): Promise<Notification> {
  const [[item], [userId]] = [items, userIds];
  if (item === undefined || userId === undefined) throw new Error('a request without a user was not refused');
  const [id, content] = [orderedId(), contentOf(item, created)];
  const row = await insert({ id, userId, content });
  if (row === undefined) return refuseMissing([row]);
  return toNotification(content, id, userId, row, images);
}

function deliveriesOf({ items, userIds, created }: ValidRequest): Deliveries {
  return {
    ids: orderedIds(userIds.length),
    userIds,
    items: items.flatMap((item, index) => item.deliveries.map(() => index + 1)),
    contents: items.map((item) => contentOf(item, created)),
  };
}

/** The users whose deliveries were inserted. */
function usersOf(items: readonly Item[], inserted: readonly unknown[]): Set<string> {
  const deliveries = items.flatMap((item) => item.deliveries);
  return new Set(deliveries.filter((_, place) => Boolean(inserted[place])).map(({ userId }) => userId));
}

/**
 * Builds the notifications that are being inserted, from the request and from the sequences and times of the database.
 * Between two parts, the process sends pending data and serves other requests.
 */
async function buildInParts(
  { deliveries: { ids, userIds, items, contents }, sequences, times }: PendingInsert,
  images: ReadonlyMap<string, Image>,
  onPart: OnPart | undefined,
): Promise<Notification[]> {
  const parts: Notification[][] = [];
  const instantOf = instantsOfMicroseconds();
  for (let from = 0; from < sequences.length; from += partLength) {
    await nextTurn();
    const part = sequences.slice(from, from + partLength).map((sequence, index) => {
      const place = from + index;
      const [id, userId, content] = [ids[place], userIds[place], contents[(items[place] ?? 0) - 1]];
      if (id === undefined || userId === undefined || content === undefined) {
        throw new Error('more notifications were inserted than requested');
      }
      return toNotification(content, id, userId, { sequence, created_at: instantOf(times[place] ?? 0n) }, images);
    });
    onPart?.(part);
    parts.push(part);
  }
  return parts.flat();
}

/** A notification that was just inserted. The database returns only the values that are not in the request. */
function toNotification(
  content: Content,
  id: string,
  user_id: string,
  { sequence, created_at }: CreatedRow,
  images: ReadonlyMap<string, Image>,
): Notification {
  return notificationOf(content, { id, user_id, sequence, created_at, updated_at: created_at }, images);
}
