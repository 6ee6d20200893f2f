import type { PushChannel } from '../../contract/push.js';
import type { Queryable } from '../../database/database.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import type { PushDevice, PushDevices } from './devices.js';
import { isMuted, mutesOf } from './mutes.js';

/** The dependencies of the fan-out. */
export interface PushOptions {
  readonly devices: PushDevices;
  /** The configured channels. */
  readonly channels: readonly PushChannel[];
  readonly fields: FilterFields;
}

/** A push to send, or one that a mute suppresses. */
export interface PlannedPush extends PushDevice {
  readonly muted: boolean;
}

/** The part of a notification that a mute can filter by. */
export type MuteSubject = Parameters<typeof isMuted>[1];

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
 * Applies the mutes of the users to their devices. `read` returns the notifications of users who have mutes, by id. If it
 * does not return a notification, the notification was deleted and is not pushed.
 *
 * @returns the pushes of each item, in the order of the items
 */
export async function planPushes<Item extends { readonly userId: string; readonly id: string }>(
  handle: Queryable,
  fields: FilterFields,
  { items, devices }: { readonly items: readonly Item[]; readonly devices: ReadonlyMap<string, readonly PushDevice[]> },
  read: (items: readonly Item[]) => Promise<ReadonlyMap<string, MuteSubject>>,
): Promise<PlannedPush[][]> {
  const mutes = await mutesOf(handle, fields, [...devices.keys()]);
  const toRead = items.filter(({ userId }) => mutes.has(userId));
  const notifications = toRead.length === 0 ? new Map<string, MuteSubject>() : await read(toRead);
  return items.map(({ userId, id }) => {
    const filters = mutes.get(userId);
    const notification = notifications.get(id);
    if (filters !== undefined && notification === undefined) return [];
    const muted = filters !== undefined && notification !== undefined && isMuted(filters, notification);
    return (devices.get(userId) ?? []).map((device) => ({ ...device, muted }));
  });
}
