import type { Queryable } from '../../database/database.js';
import { insertDeliveries } from './deliveries.js';
import type { PushOptions } from './plan.js';
import type { ClearedPushes, PushContent } from './sender.js';

/** A notice about the account itself. It is pushed, and may be listed in the inbox too. */
export interface PushedNotice {
  readonly id: string;
  readonly userId: string;
  /** Such as `new_device`. */
  readonly kind: string;
  readonly title: string;
  readonly body: string;
  /** The sequence of the notice in the inbox; null if it is not listed there. */
  readonly sequence: number | null;
  readonly exceptDevice: string | undefined;
}

/** The notification type of notices, in pushes and in the inbox. */
export const noticeType = 'security';

/**
 * The notification type of notices in the inbox. Clients may know only the types that the operator lists, so without `security` it is
 * `request`, which every client of the interface knows, or else the first.
 * @param types NOTIFICATION_TYPES
 */
export const inboxTypeOf = (types: readonly string[]): string =>
  [noticeType, 'request', ...types].find((type) => types.includes(type)) ?? noticeType;

/** Pushes a notice to the user's devices. Mutes do not apply. */
export async function pushNotice(
  tx: Queryable,
  { devices, channels }: Pick<PushOptions, 'devices' | 'channels'>,
  { id, userId, exceptDevice, ...notice }: PushedNotice,
): Promise<void> {
  if (channels.length === 0) return;
  const reachable = await devices.reachable(tx, [userId], channels);
  const deliveries = reachable
    .filter(({ device_id }) => device_id !== exceptDevice)
    .map((device) => ({ ...device, user_id: userId, notificationId: id, end: undefined }));
  const { kind, title, body, sequence } = notice;
  await insertDeliveries(tx, deliveries, { notice: JSON.stringify({ kind, title, body, sequence }) });
}

/** The part of a notice that is stored with its delivery, or what a device clears (PUSH_CLEAR). */
export type StoredNotice = Pick<PushedNotice, 'kind' | 'title' | 'body' | 'sequence'> | ClearedPushes;

/** The content of a push about a notice. */
export function noticeContent(id: string, notice: StoredNotice): PushContent | ClearedPushes {
  if ('clears' in notice) return notice;
  const { kind, title, body, sequence } = notice;
  return { id, notification_type: noticeType, notification_key: kind, title, body, sequence };
}
