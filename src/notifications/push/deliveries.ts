import type { PushChannel } from '../../contract/push.js';
import type { Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { currentCause } from '../../database/traced.js';
import { newId } from '../../lib/ids.js';
import type { PushDevice } from './devices.js';

/** The queue's job that sends by a channel. The SQL of `insertDeliveries` contains this name too. */
export const sendTask = (channel: PushChannel) => `push.send.${channel}`;

/** The payload of a `sendTask` job. The number of the attempt prevents an old job from repeating an attempt. */
export interface PushJob {
  readonly user_id: string;
  readonly id: string;
  readonly attempt: number;
  /** The request that caused the push, if it is traced. */
  readonly traceparent?: string | null;
}

/**
 * This priority lets pushes run after all other jobs. So the index scan that looks for other jobs does not read waiting
 * pushes.
 */
const queuePriority = 10;
/** SQL: `queuePriority`. */
export const pushPriority = literal(queuePriority);

/** One push to record, and to send unless it is muted. */
export interface NewDelivery extends PushDevice {
  /** The id of the notification or of the notice. */
  readonly notificationId: string;
  readonly muted: boolean;
  /** When the notification was published; undefined: now. */
  readonly publishedAt?: string;
  /** The request that published the notification; undefined: the request that inserts the push. */
  readonly cause?: string | null;
}

/** The maximum number of rows of one statement, which must end long before the statement timeout. */
const maxRowsPerStatement = 1000;

/** Inserts the row of each push, and its job in the queue unless the push is muted. */
const insertRows = statement<
  {
    userIds: readonly string[];
    ids: readonly string[];
    notificationIds: readonly string[];
    deviceIds: readonly string[];
    channels: readonly string[];
    muted: readonly boolean[];
    publishedAt: readonly (string | null)[];
    causes: readonly (string | null)[];
    notice: string | null;
  },
  { jobs: number }
>(
  'push_deliveries_insert',
  (p) => sql`
    with delivery as (
      insert into push_deliveries
        (user_id, id, notification_id, device_id, channel, state, reason, notice, created_at, updated_at)
      select user_id, id, notification_id, device_id, channel, case when muted then 'muted' else 'queued' end,
             case when muted then 'muted' else 'waiting' end, ${p.notice}::jsonb, coalesce(published_at, now), now
      from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[], ${p.notificationIds}::uuid[], ${p.deviceIds}::uuid[],
                  ${p.channels}::text[], ${p.muted}::boolean[], ${p.publishedAt}::timestamptz[])
          as push (user_id, id, notification_id, device_id, channel, muted, published_at),
        (select db_now() as now) clock
      returning user_id, id, channel, state
    )
    select count(*) as jobs from graphile_worker.add_jobs(array(
      select row('push.send.' || channel, json_build_object('user_id', user_id, 'id', id, 'attempt', 0,
                   'traceparent', coalesce(cause, ${currentCause})),
                 null, null, null, null, ${pushPriority}, null)::graphile_worker.job_spec
      from delivery join unnest(${p.ids}::uuid[], ${p.causes}::text[]) as caused (id, cause) using (id)
      where state = 'queued'))
    where exists (select from delivery where state = 'queued')`,
);

/** Inserts pushes and their jobs. @param notice the JSON of the notice, if the pushes are not about a notification */
export async function insertDeliveries(
  tx: Queryable,
  deliveries: readonly NewDelivery[],
  notice: string | null = null,
): Promise<void> {
  for (let start = 0; start < deliveries.length; start += maxRowsPerStatement) {
    const batch = deliveries.slice(start, start + maxRowsPerStatement);
    await tx.query(
      insertRows({
        userIds: batch.map(({ user_id }) => user_id),
        ids: batch.map(() => newId()),
        notificationIds: batch.map(({ notificationId }) => notificationId),
        deviceIds: batch.map(({ device_id }) => device_id),
        channels: batch.map(({ channel }) => channel),
        muted: batch.map(({ muted }) => muted),
        publishedAt: batch.map(({ publishedAt }) => publishedAt ?? null),
        causes: batch.map(({ cause }) => cause ?? null),
        notice,
      }),
    );
  }
}
