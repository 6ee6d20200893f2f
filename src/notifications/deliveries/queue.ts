import { arrayText } from '../../database/array-text.js';
import type { Queryable } from '../../database/database.js';
import { literal, type Sql, type SqlPart, sql, statement } from '../../database/sql.js';
import { orderedIds } from '../../lib/ids.js';
import type { StepFacts } from './decide.js';

/** The channels with one delivery for each notification. A push has one for each device. */
export const messageChannels = ['email', 'sms'] as const;
export type MessageChannel = (typeof messageChannels)[number];

/** The queue's job that sends by a channel. The SQL of `insertDeliveries` contains this name too. */
export const stepTask = (channel: MessageChannel) => `step.send.${channel}`;

/**
 * The priorities of these jobs. The queue runs lower numbers first: all other jobs, and above all codes. The first messages of a user run
 * before the further ones of every user, so a user with many messages does not delay those of others.
 */
const levels = [
  { waiting: 16, priority: 13 },
  { waiting: 128, priority: 14 },
] as const;
const lastPriority = 15;

/** SQL: the priority of the job of a user for whom this number of messages waits before it. */
export const stepPriority = (waiting: SqlPart): Sql => sql`case
             when ${waiting} < ${literal(levels[0].waiting)} then ${literal(levels[0].priority)}
             when ${waiting} < ${literal(levels[1].waiting)} then ${literal(levels[1].priority)} else ${literal(lastPriority)} end`;
/** More than this is not counted. */
const maxWaiting = levels[1].waiting;

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

type Arrays = Readonly<Record<'userIds' | 'ids' | 'notificationIds', string>>;
const insertRows = statement<Omit<NewDeliveries, keyof Arrays> & Arrays>(
  'step_deliveries_insert',
  (p) => sql`
    with delivery as (
      insert into step_deliveries (user_id, id, notification_id, channel, condition, state, reason, created_at, updated_at)
      select user_id, id, notification_id, ${p.channel}::text, ${p.condition}, 'queued', 'waiting', ${p.dueAt}::timestamptz, db_now()
      from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[], ${p.notificationIds}::uuid[]) as new (user_id, id, notification_id)
      returning user_id, id
    ),
    ranked as (
      select user_id, id, before.count + row_number() over (partition by user_id order by id) - 1 as waiting
      from delivery cross join lateral (
        select count(*) as count from (
          select from step_deliveries queued
          where queued.user_id = delivery.user_id and queued.channel = ${p.channel}::text and queued.state = 'queued'
          limit ${literal(maxWaiting)}) earlier) before
    )
    select count(*) from graphile_worker.add_jobs(array(
      select row('step.send.' || ${p.channel}, json_build_object('user_id', user_id, 'id', id, 'attempt', 0,
                   'traceparent', ${p.cause}::text),
                 null, null, null, null, ${stepPriority(sql`waiting`)}, null)::graphile_worker.job_spec
      from ranked order by id))`,
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
        userIds: arrayText(userIds.slice(start, end)),
        notificationIds: arrayText(notificationIds.slice(start, end)),
        ids: arrayText(ids.slice(start, end)),
      }),
    );
  }
}
