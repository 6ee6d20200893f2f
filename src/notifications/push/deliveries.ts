import type { DeliveryReason, DeliveryState, PushChannel } from '../../contract/push.js';
import { arrayText, textArrayText } from '../../database/array-text.js';
import type { Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { currentCause } from '../../database/traced.js';
import { orderedIds } from '../../lib/ids.js';
import type { PushDevice } from './devices.js';
import type { End } from './end.js';

/** The queue's job that sends by a channel. The SQL of `insertDeliveries` contains this name too. */
export const sendTask = (channel: PushChannel) => `push.send.${channel}`;

/**
 * The priorities of jobs that send pushes. Lower numbers run first, and all pushes run after all other jobs: the index scan
 * that looks for other jobs does not read waiting pushes. The first pushes of a user run before the further ones of every
 * user, so a user with many pushes does not delay those of others.
 */
const priorities = [
  { waiting: 16, priority: 10 },
  { waiting: 128, priority: 11 },
];
const lastPriority = 12;
/** SQL: the priority of pushes that are tried again. */
export const retryPriority = literal(lastPriority);

/** The priority of a push of a user for whom this number of pushes waits already. */
const priorityAfter = (waiting: number) =>
  priorities.find((level) => waiting < level.waiting)?.priority ?? lastPriority;

/** One push to record, and to send unless it ends at once. */
export interface NewDelivery extends PushDevice {
  /** The id of the notification or of the notice. */
  readonly notificationId: string;
  readonly end: End | undefined;
  /** When the notification was published; undefined: now. */
  readonly publishedAt?: string;
  /** The request that published the notification; undefined: the request that inserts the push. */
  readonly cause?: string | null;
}

/** The maximum number of rows of one statement, which must end long before the statement timeout. */
const maxRowsPerStatement = 1000;

/** Inserts the row of each push, and its job in the queue unless the push ends at once. */
const insertRows = statement<
  {
    userIds: string;
    ids: string;
    notificationIds: string;
    deviceIds: string;
    channels: string;
    states: string;
    reasons: string;
    publishedAt: string;
    causes: string;
    priorities: string;
    notice: string | null;
  },
  { jobs: number }
>(
  'push_deliveries_insert',
  (p) => sql`
    with push as materialized (
      select * from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[], ${p.notificationIds}::uuid[], ${p.deviceIds}::uuid[],
                           ${p.channels}::text[], ${p.states}::text[], ${p.reasons}::text[], ${p.publishedAt}::timestamptz[],
                           ${p.causes}::text[], ${p.priorities}::integer[])
        as push (user_id, id, notification_id, device_id, channel, state, reason, published_at, cause, priority)
    ),
    delivery as (
      insert into push_deliveries
        (user_id, id, notification_id, device_id, channel, state, reason, notice, created_at, updated_at)
      select user_id, id, notification_id, device_id, channel, state, reason, ${p.notice}::jsonb, coalesce(published_at, now), now
      from push, (select db_now() as now) clock
    )
    select count(*) as jobs from graphile_worker.add_jobs(array(
      select row('push.send.' || channel, json_build_object('user_id', user_id, 'id', id, 'attempt', 0,
                   'traceparent', coalesce(cause, ${currentCause})),
                 null, null, null, null, priority, null)::graphile_worker.job_spec
      from push where state = 'queued'))
    where exists (select from push where state = 'queued')`,
);

/**
 * Inserts pushes and their jobs.
 * @param options.waiting how many pushes of a user wait already, by user id. A user who is absent has none
 * @param options.notice the JSON of the notice, if the pushes are not about a notification
 */
export async function insertDeliveries(
  tx: Queryable,
  deliveries: readonly NewDelivery[],
  { waiting, notice = null }: { readonly waiting?: ReadonlyMap<string, number>; readonly notice?: string | null } = {},
): Promise<void> {
  const counts = new Map(waiting);
  const priorityOf = ({ user_id }: NewDelivery) => {
    const count = counts.get(user_id) ?? 0;
    counts.set(user_id, count + 1);
    return priorityAfter(count);
  };
  for (let start = 0; start < deliveries.length; start += maxRowsPerStatement) {
    const batch = deliveries.slice(start, start + maxRowsPerStatement);
    const arrayOf = (value: (delivery: NewDelivery) => string | number) => arrayText(batch.map(value));
    const states = batch.map(({ end }): DeliveryState => end?.state ?? 'queued');
    const reasons = batch.map(({ end }): DeliveryReason => end?.reason ?? 'waiting');
    await tx.query(
      insertRows({
        userIds: arrayOf(({ user_id }) => user_id),
        ids: arrayText(orderedIds(batch.length)),
        notificationIds: arrayOf(({ notificationId }) => notificationId),
        deviceIds: arrayOf(({ device_id }) => device_id),
        channels: arrayOf(({ channel }) => channel),
        states: arrayText(states),
        reasons: arrayText(reasons),
        publishedAt: textArrayText(batch.map(({ publishedAt }) => publishedAt ?? null)),
        causes: textArrayText(batch.map(({ cause }) => cause ?? null)),
        priorities: arrayOf(priorityOf),
        notice,
      }),
    );
  }
}
