import type { Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { orderedIds } from '../../lib/ids.js';
import type { StepFacts } from './decide.js';

/** The channels with one delivery for each notification. A push has one for each device. */
export const messageChannels = ['email', 'sms'] as const;
export type MessageChannel = (typeof messageChannels)[number];

/** The queue's job that sends by a channel. The SQL of `insertDeliveries` contains this name too. */
export const stepTask = (channel: MessageChannel) => `step.send.${channel}`;

/** The payload of a `stepTask` job. The number of the attempt prevents an old job from repeating an attempt. */
export interface StepJob {
  readonly user_id: string;
  readonly id: string;
  readonly attempt: number;
  /** The request that published the notification, if it is traced. */
  readonly traceparent?: string | null;
}

/** SQL: the priority of these jobs. The queue runs lower numbers first: all other jobs, and above all codes. */
export const stepPriority = literal(13);

/** Deliveries of one step to insert. */
export interface NewDeliveries {
  readonly userIds: readonly string[];
  readonly notificationIds: readonly string[];
  readonly channel: MessageChannel;
  readonly condition: StepFacts['condition'];
  readonly dueAt: string;
  readonly cause: string | null;
}

/** The maximum number of rows of one statement, which must end long before the statement timeout. */
const maxRowsPerStatement = 1000;

const insertRows = statement<NewDeliveries & { ids: readonly string[] }>(
  'step_deliveries_insert',
  (p) => sql`
    with delivery as (
      insert into step_deliveries (user_id, id, notification_id, channel, condition, state, reason, created_at, updated_at)
      select user_id, id, notification_id, ${p.channel}::text, ${p.condition}, 'queued', 'waiting', ${p.dueAt}::timestamptz, db_now()
      from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[], ${p.notificationIds}::uuid[]) as new (user_id, id, notification_id)
      returning user_id, id
    )
    select count(*) from graphile_worker.add_jobs(array(
      select row('step.send.' || ${p.channel}, json_build_object('user_id', user_id, 'id', id, 'attempt', 0,
                   'traceparent', ${p.cause}::text),
                 null, null, null, null, ${stepPriority}, null)::graphile_worker.job_spec
      from delivery order by id))`,
);

/** Inserts deliveries and their jobs. */
export async function insertDeliveries(tx: Queryable, deliveries: NewDeliveries): Promise<void> {
  const { userIds, notificationIds } = deliveries;
  const ids = orderedIds(userIds.length);
  for (let start = 0; start < userIds.length; start += maxRowsPerStatement) {
    const end = start + maxRowsPerStatement;
    await tx.query(
      insertRows({
        ...deliveries,
        userIds: userIds.slice(start, end),
        notificationIds: notificationIds.slice(start, end),
        ids: ids.slice(start, end),
      }),
    );
  }
}
