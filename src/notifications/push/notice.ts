import { prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { pushPriority, sendTask } from './derive.js';
import type { PushOptions } from './plan.js';
import type { PushContent } from './sender.js';

/** Something about the account itself, which is pushed though it is no notification of the inbox. */
export interface PushedNotice {
  readonly id: string;
  readonly userId: string;
  /** Such as `new_device`. */
  readonly kind: string;
  readonly title: string;
  readonly body: string;
  /** Where it is in the inbox too. */
  readonly sequence: number | null;
  readonly exceptDevice: string | undefined;
}

/** The type that clients see of notices, by push and in the inbox. */
export const noticeType = 'security';

const insertDeliveries = prepared(
  'push_notice_insert',
  `with delivery as (
     insert into push_deliveries (user_id, id, notification_id, device_id, channel, state, reason, notice, created_at, updated_at)
     select $1, made.id, $2, made.device_id, made.channel, 'queued', 'waiting', $3::jsonb, now, now
     from unnest($4::uuid[], $5::uuid[], $6::text[]) as made (id, device_id, channel), (select db_now() as now) clock
     returning user_id, id, channel)
   select graphile_worker.add_job(task, json_build_object('user_id', user_id, 'id', id, 'attempt', 0),
                                  priority => ${pushPriority})
   from delivery, lateral (select case channel when 'apns' then '${sendTask('apns')}' when 'fcm' then '${sendTask('fcm')}'
                                               else '${sendTask('web_push')}' end as task) named`,
);

/** Pushes a notice to the user's devices, whatever the user has muted. */
export async function pushNotice(
  tx: Queryable,
  { devices, channels }: Pick<PushOptions, 'devices' | 'channels'>,
  { id, userId, exceptDevice, ...notice }: PushedNotice,
): Promise<void> {
  if (channels.length === 0) return;
  const reachable = await devices.reachable(tx, [userId], channels);
  const told = reachable.filter(({ device_id }) => device_id !== exceptDevice);
  if (told.length === 0) return;
  const { kind, title, body, sequence } = notice;
  await tx.query(insertDeliveries, [
    ...[userId, id, JSON.stringify({ kind, title, body, sequence })],
    ...[told.map(() => newId()), told.map(({ device_id }) => device_id), told.map(({ channel }) => channel)],
  ]);
}

/** What is kept of a notice beside its delivery. */
export type KeptNotice = Pick<PushedNotice, 'kind' | 'title' | 'body' | 'sequence'>;

export function noticeContent(id: string, { kind, title, body, sequence }: KeptNotice): PushContent {
  return { id, notification_type: noticeType, notification_key: kind, title, body, sequence };
}
