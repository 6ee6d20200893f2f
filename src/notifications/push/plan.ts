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
export type MuteSubject = Parameters<typeof isMuted>[2];

/**
 * Finds the devices that get a push. `read` returns the notifications of users who have mutes, by id. If it does not
 * return a notification, the notification was deleted and is not pushed.
 *
 * @returns the pushes of each item, in the order of the items
 */
export async function planPushes<Item extends { readonly userId: string; readonly id: string }>(
  handle: Queryable,
  { devices, channels, fields }: PushOptions,
  items: readonly Item[],
  read: (items: readonly Item[]) => Promise<ReadonlyMap<string, MuteSubject>>,
): Promise<PlannedPush[][]> {
  if (channels.length === 0) return items.map(() => []);
  const userIds = [...new Set(items.map(({ userId }) => userId))];
  const byUser = new Map<string, PushDevice[]>();
  for (const device of await devices.reachable(handle, userIds, channels)) {
    byUser.set(device.user_id, [...(byUser.get(device.user_id) ?? []), device]);
  }
  const mutes = await mutesOf(handle, [...byUser.keys()]);
  const toRead = items.filter(({ userId }) => mutes.has(userId));
  const notifications = toRead.length === 0 ? new Map<string, MuteSubject>() : await read(toRead);
  return items.map(({ userId, id }) => {
    const filters = mutes.get(userId);
    const notification = notifications.get(id);
    if (filters !== undefined && notification === undefined) return [];
    const muted = notification !== undefined && isMuted(filters ?? [], fields, notification);
    return (byUser.get(userId) ?? []).map((device) => ({ ...device, muted }));
  });
}
