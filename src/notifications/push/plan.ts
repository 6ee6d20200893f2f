import type { Category } from '../../contract/category.js';
import type { PushChannel } from '../../contract/push.js';
import type { Queryable } from '../../database/database.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import type { KnownCategories } from '../categories/categories.js';
import { chosenFor } from '../preferences/pushes.js';
import { decidePush, pushOf } from './decision.js';
import type { PushDevice, PushDevices } from './devices.js';
import type { End } from './end.js';
import { isMuted, refusalsOf } from './mutes.js';

/** The dependencies of the fan-out. */
export interface PushOptions {
  readonly devices: PushDevices;
  /** The configured channels. */
  readonly channels: readonly PushChannel[];
  readonly fields: FilterFields;
  /** Looks up the categories of notifications. */
  readonly categories: Pick<KnownCategories, 'get' | 'names' | 'refreshFor'>;
}

/** A push to send, or one that ends at once. */
export interface PlannedPush extends PushDevice {
  readonly end: End | undefined;
  /** Of a push that ends at once: the category of its notification. */
  readonly category?: string;
}

/** What decides whether a notification is pushed. */
export interface PushSubject {
  /** The part that a mute can filter by. */
  readonly notification: Parameters<typeof isMuted>[1];
  /** The name of its category. */
  readonly category: string;
  /** The topic to which it was published; null: to none. */
  readonly topic: string | null;
}

/** The devices that can get pushes now, by user. A user without such a device is absent. */
export async function reachableByUser(
  handle: Queryable,
  { devices, channels }: Pick<PushOptions, 'devices' | 'channels'>,
  users: Iterable<string>,
): Promise<ReadonlyMap<string, readonly PushDevice[]>> {
  const byUser = new Map<string, PushDevice[]>();
  const userIds = [...new Set(users)];
  if (channels.length === 0 || userIds.length === 0) return byUser;
  for (const device of await devices.reachable(handle, userIds, channels)) {
    const own = byUser.get(device.user_id);
    if (own === undefined) byUser.set(device.user_id, [device]);
    else own.push(device);
  }
  return byUser;
}

/**
 * Decides which devices get pushes. `read` returns the notifications of users who have mutes or have chosen something, by id; if a category is not pushed
 * to everybody, it returns all notifications. If it does not return a notification, the notification was deleted and is not
 * pushed.
 *
 * @returns the pushes of each item, in the order of the items
 */
export async function planPushes<Item extends { readonly userId: string; readonly id: string }>(
  handle: Queryable,
  { fields, categories }: Pick<PushOptions, 'fields' | 'categories'>,
  { items, devices }: { readonly items: readonly Item[]; readonly devices: ReadonlyMap<string, readonly PushDevice[]> },
  read: (items: readonly Item[]) => Promise<ReadonlyMap<string, PushSubject>>,
): Promise<PlannedPush[][]> {
  const { mutes, choices } = await refusalsOf(handle, fields, [...devices.keys()]);
  const readsAll = categories.names().some((name) => isRestricted(categories.get(name)));
  const toRead = items.filter(
    ({ userId }) => devices.has(userId) && (readsAll || mutes.has(userId) || choices.has(userId)),
  );
  const subjects = toRead.length === 0 ? new Map<string, PushSubject>() : await read(toRead);
  await categories.refreshFor(
    handle,
    [...subjects.values()].map(({ category }) => category),
  );
  const isRead = new Set(toRead);
  return items.map((item) => {
    const own = devices.get(item.userId) ?? [];
    if (!isRead.has(item)) return own.map((device) => ({ ...device, end: undefined }));
    const subject = subjects.get(item.id);
    const category = subject && categories.get(subject.category);
    if (subject === undefined) return [];
    // Quiet hours are asked for before each attempt.
    const decision = decidePush({
      notification: { isExpired: false, isRead: false },
      category: category && pushOf(category),
      chosen: chosenFor(choices.get(item.userId), subject),
      isMuted: isMuted(mutes.get(item.userId) ?? [], subject.notification, subject.category),
      isLate: false,
      wasHandedOver: false,
    });
    const end = decision?.state === 'held' ? undefined : decision;
    return own.map((device) => ({ ...device, end, category: subject.category }));
  });
}

/** Whether notifications of a category are not pushed to everybody. */
const isRestricted = (category: Category | undefined) => category?.defaults.push === 'off';
