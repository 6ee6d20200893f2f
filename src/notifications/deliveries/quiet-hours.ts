import type { Database, Transaction } from '../../database/database.js';
import { literal, type Sql, type SqlPart, sql, statement } from '../../database/sql.js';
import { categoryOf } from '../inbox/filter-fields.js';
import { isReadNow, joinReadState } from '../inbox/unread.js';
import type { AttemptKey } from './jobs.js';
import { stepPriority } from './queue.js';

/**
 * SQL: the end of the quiet hours that contain the time `now`, from a row of `preferences`. Null if no quiet hours contain it. It calls the
 * function only for users with quiet hours.
 * @param zone DEFAULT_TIME_ZONE
 */
export const quietUntil = (zone: SqlPart, now: SqlPart = sql`db_now()`): Sql =>
  sql`case when preferences.quiet_hours is not null then quiet_until(preferences.quiet_hours, coalesce(preferences.time_zone, ${zone}), ${now}) end`;

/** SQL: the columns of pushes that are held again, because the push that summarized them is not sent. */
const heldAgain = sql`state = 'held', reason = 'quiet_hours', held_at = db_now(), updated_at = db_now(), collapsed_into = null`;

/**
 * SQL: part of a statement with \`delivery\`. Holds the pushes that this push summarizes too. They are counted again when they are
 * released.
 */
const heldWithIt = sql`
    members as (
      update push_deliveries member set ${heldAgain}
      from delivery
      where member.user_id = delivery.user_id and member.collapsed_into = delivery.id and member.state = 'dropped'
    ),`;

/**
 * Holds a delivery until the user's quiet hours end. It locks the preferences, so it sees an earlier change of the quiet hours, and a later
 * change sees its row in `quiet_holds`. Returns no row if the user has no quiet hours now. `zone` is DEFAULT_TIME_ZONE.
 */
const hold = (name: string, { table, more }: { table: Sql; more: { readonly columns: Sql; readonly parts: Sql } }) =>
  statement<AttemptKey & { zone: string }, { user_id: string }>(
    name,
    (p) => sql`
    with quiet as materialized (
      select preferences.user_id, ${quietUntil(p.zone)} as ends from preferences where preferences.user_id = ${p.userId} for share
    ),
    delivery as (
      update ${table} d set state = 'held', reason = 'quiet_hours', held_at = db_now(), updated_at = db_now()${more.columns}
      from quiet
      where quiet.ends is not null and d.user_id = ${p.userId} and d.id = ${p.id} and d.state = 'queued' and d.attempts = ${p.attempt}
      returning d.user_id, d.id, quiet.ends
    ),${more.parts}
    held as (select user_id, ends from delivery)
    insert into quiet_holds (user_id, held_until) select user_id, ends from held
    on conflict (user_id) do update set held_until = least(quiet_holds.held_until, excluded.held_until)
    returning user_id`,
  );
export const holdStep = hold('step_delivery_hold', {
  table: sql`step_deliveries`,
  more: { columns: sql``, parts: sql`` },
});
export const holdPush = hold('push_delivery_hold', {
  table: sql`push_deliveries`,
  more: { columns: sql`, collapsed = null`, parts: heldWithIt },
});

/**
 * Called if a push that summarizes others is refused. The others are held again, and released at once outside of quiet hours. Then the
 * newest of them summarizes the rest.
 */
export const separatePush = statement<AttemptKey>(
  'push_delivery_separate',
  (p) => sql`
    with delivery as (
      update push_deliveries set collapsed = null
      where user_id = ${p.userId} and id = ${p.id} and state = 'queued' and attempts = ${p.attempt} and collapsed is not null
      returning user_id, id
    ),${heldWithIt}
    held as (select user_id from delivery)
    insert into quiet_holds (user_id, held_until) select user_id, db_now() from held
    on conflict (user_id) do update set held_until = least(quiet_holds.held_until, excluded.held_until)`,
);

/** The maximum number of users whose deliveries one run releases. */
const usersPerRun = 100;
/** More held pushes of a category for a device than this become one. */
export const maxSinglePushes = 3;

const takeDue = statement<object, { user_id: string }>(
  'quiet_holds_take',
  () => sql`
    delete from quiet_holds where user_id in (
      select user_id from quiet_holds where held_until <= (select db_now())
      order by held_until limit ${literal(usersPerRun)} for update skip locked)
    returning user_id`,
);

/** SQL: sets the columns of a released delivery, except its state and its reason. */
const released = sql`held_at = null, updated_at = db_now(),
        holds = coalesce(holds, '{}') + tstzmultirange(tstzrange(held_at, greatest(held_at, db_now())))`;

/** SQL: when the job of a released delivery runs. The queue starts jobs of one priority by this time, so those of a user start in their order. */
const inOrder = (order: Sql): Sql => sql`now() + row_number() over (order by ${order}) * interval '1 microsecond'`;

/** Releases mails and SMS. Locks rows in the same order as the closing of a digest, to avoid deadlocks. */
const releaseSteps = statement<{ userIds: readonly string[] }>(
  'step_deliveries_release',
  (p) => sql`
    with held as materialized (
      select user_id, id from step_deliveries
      where user_id = any (${p.userIds}::uuid[]) and state = 'held'
      order by user_id, id for update
    ),
    delivery as (
      update step_deliveries d set ${released}, state = 'queued', reason = 'waiting'
      from held where d.user_id = held.user_id and d.id = held.id
      returning d.user_id, d.id, d.channel, d.attempts, d.created_at
    )
    select count(*) from graphile_worker.add_jobs(array(
      select row('step.send.' || channel, json_build_object('user_id', user_id, 'id', id, 'attempt', attempts),
                 null, ${inOrder(sql`created_at, id`)}, null, null,
                 ${stepPriority(sql`row_number() over (partition by user_id order by created_at, id)`)}, null)::graphile_worker.job_spec
      from delivery))`,
);

/**
 * Releases pushes. A push is live if its notification exists, is unread and has not expired. If a device has more than `maxSinglePushes`
 * live pushes of a category, only the newest is sent, with their number. Pushes that are not live return to the queue, where the decision
 * before the attempt stores why they are not sent.
 */
const releasePushes = statement<{ userIds: readonly string[] }>(
  'push_deliveries_release',
  (p) => sql`
    with held as materialized (
      select user_id, id, notification_id, device_id from push_deliveries
      where user_id = any (${p.userIds}::uuid[]) and state = 'held'
      order by user_id, id for update
    ),
    known as materialized (
      select held.user_id, held.id, device_id, category_name, n.sequence,
             coalesce(not (${isReadNow(sql`n.sequence`)} or n.expires_at <= db_now()), n.id is not null) as is_live
      from held
        left join lateral (
          select notifications.*, ${categoryOf} as category_name from notifications
          where user_id = held.user_id and id = held.notification_id limit 1
        ) n on true ${joinReadState(sql`held.user_id`, sql`n.sequence`)}
    ),
    ranked as materialized (
      select user_id, id, is_live,
             row_number() over (partition by user_id, device_id, category_name, is_live order by sequence desc) as place,
             first_value(id) over (partition by user_id, device_id, category_name, is_live order by sequence desc) as newest_id,
             count(*) over (partition by user_id, device_id, category_name, is_live) as count
      from known
    ),
    delivery as (
      update push_deliveries d
      set ${released}, state = 'queued', reason = 'waiting',
          collapsed = case when is_live and count > ${literal(maxSinglePushes)} then count end
      from ranked
      where d.user_id = ranked.user_id and d.id = ranked.id
        and not (is_live and count > ${literal(maxSinglePushes)} and place > 1)
      returning d.user_id, d.id, d.channel, d.attempts
    ),
    dropped as (
      update push_deliveries d set ${released}, state = 'dropped', reason = 'collapsed', collapsed_into = newest_id
      from ranked
      where d.user_id = ranked.user_id and d.id = ranked.id
        and is_live and count > ${literal(maxSinglePushes)} and place > 1
    )
    select count(*) from graphile_worker.add_jobs(array(
      select row('push.send.' || channel, json_build_object('user_id', user_id, 'id', id, 'attempt', attempts),
                 null, ${inOrder(sql`id`)}, null, null, 10, null)::graphile_worker.job_spec
      from delivery))`,
);

/**
 * Creates the function that releases deliveries whose quiet hours have ended. Postern decides about each of them again before it is sent.
 * @returns whether a user had such deliveries
 */
export function createQuietRelease(database: Database): () => Promise<boolean> {
  return () =>
    database.transaction(async (tx: Transaction) => {
      const users = await tx.query(takeDue({}));
      if (users.length === 0) return false;
      const userIds = users.map(({ user_id }) => user_id);
      // Pushes first: a message with `undelivered` asks whether they were sent.
      await tx.query(releasePushes({ userIds }));
      await tx.query(releaseSteps({ userIds }));
      return true;
    });
}
