import type { PushChannel } from '../../contract/push.js';
import type { Queryable } from '../../database/database.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import type { PushDevice, PushDevices } from './devices.js';
import { isMuted, mutesOf } from './mutes.js';

/** What push is made with. */
export interface PushOptions {
  readonly devices: PushDevices;
  /** Those that are configured. */
  readonly channels: readonly PushChannel[];
  readonly fields: FilterFields;
}

/** A push that is to be made, or that a mute keeps back. */
export interface PlannedPush extends PushDevice {
  readonly muted: boolean;
}

/** Of a notification what a mute can look at. */
type Mutable = Parameters<typeof isMuted>[2];

/**
 * Who is to be pushed, and where. `read` gives the notifications of users who have mutes, by id: nobody else's need to
 * be looked at. One that it does not give is gone, and is not pushed.
 *
 * @returns for each item, in order
 */
export async function planPushes<Item extends { readonly userId: string; readonly id: string }>(
  handle: Queryable,
  { devices, channels, fields }: PushOptions,
  items: readonly Item[],
  read: (items: readonly Item[]) => Promise<ReadonlyMap<string, Mutable>>,
): Promise<PlannedPush[][]> {
  if (channels.length === 0) return items.map(() => []);
  const userIds = [...new Set(items.map(({ userId }) => userId))];
  const byUser = new Map<string, PushDevice[]>();
  for (const device of await devices.reachable(handle, userIds, channels)) {
    byUser.set(device.user_id, [...(byUser.get(device.user_id) ?? []), device]);
  }
  const mutes = await mutesOf(handle, [...byUser.keys()]);
  const toRead = items.filter(({ userId }) => mutes.has(userId));
  const notifications = toRead.length === 0 ? new Map<string, Mutable>() : await read(toRead);
  return items.map(({ userId, id }) => {
    const filters = mutes.get(userId);
    const notification = notifications.get(id);
    if (filters !== undefined && notification === undefined) return [];
    const muted = notification !== undefined && isMuted(filters ?? [], fields, notification);
    return (byUser.get(userId) ?? []).map((device) => ({ ...device, muted }));
  });
}
