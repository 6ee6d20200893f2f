import type { Category, StepChannel } from '../../contract/category.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { parseDuration } from '../../lib/times.js';
import type { StepFacts } from './decide.js';

/** A notification that a channel may bring to a user. */
export interface CappedStep {
  readonly userId: string;
  readonly notificationId: string;
  readonly channel: StepChannel;
}

interface Use {
  readonly userId: string;
  readonly name: string;
  readonly notificationId: string;
  /** Milliseconds. */
  readonly per: number;
}

interface Limits {
  used: number;
  digest: 'open' | 'member' | 'past';
}

/**
 * The number of other notifications that count for the cap now, and the state of this notification in the digest of the category. A
 * notification that counts already is not checked again.
 */
const readLimits = statement<Use & { category: string; isMail: boolean }, Limits>(
  'category_limits',
  (p) => sql`
    select
      coalesce((
        select case when notification_ids @> array[${p.notificationId}::uuid] then 0
                    else (select count(*) from unnest(times) time where time > db_now() - ${p.per}::float8 * interval '1 ms') end
        from category_caps where user_id = ${p.userId} and name = ${p.name}), 0)::integer as used,
      case when not ${p.isMail}::boolean then 'open'
           when exists (select from step_deliveries where user_id = ${p.userId} and member_ids @> array[${p.notificationId}::uuid]) then 'member'
           when (select sequence from notifications where user_id = ${p.userId} and id = ${p.notificationId})
                <= (select last_closed_through from digests where user_id = ${p.userId} and category = ${p.category} and channel = 'email')
           then 'past' else 'open' end as digest`,
);

/**
 * Counts a notification for the cap, once for all its devices and attempts. The row is locked, so parallel deliveries never exceed the cap.
 * Returns no row if the cap is reached.
 */
const takePlace = statement<Use & { count: number }, { taken: boolean }>(
  'category_cap_take',
  (p) => sql`
    insert into category_caps (user_id, name, notification_ids, times, updated_at)
    values (${p.userId}, ${p.name}, array[${p.notificationId}::uuid], array[db_now()], db_now())
    on conflict (user_id, name) do update
    set (notification_ids, times) = (
          select array_agg(id order by time, id), array_agg(time order by time, id)
          from (
            select id, time from unnest(category_caps.notification_ids, category_caps.times) as before (id, time)
            where time > db_now() - ${p.per}::float8 * interval '1 ms' and id <> ${p.notificationId}
            union all
            select ${p.notificationId}::uuid, coalesce(
              (select time from unnest(category_caps.notification_ids, category_caps.times) as own (id, time) where id = ${p.notificationId}),
              excluded.updated_at)
          ) kept),
        updated_at = excluded.updated_at
    where category_caps.notification_ids @> array[${p.notificationId}::uuid]
      or (select count(*) from unnest(category_caps.times) time where time > db_now() - ${p.per}::float8 * interval '1 ms') < ${p.count}::integer
    returning true as taken`,
);

const useOf = ({ userId, notificationId, channel }: CappedStep, { name, cap }: Category): Use => ({
  userId,
  notificationId,
  name: `${channel}.${name}`,
  per: parseDuration(cap?.per ?? '') ?? 0,
});

/** Checks the cap and the digest of a category for a step. It queries the database only if the category has one of them. */
export async function limitsOf(
  handle: Queryable,
  step: CappedStep,
  category: Category | undefined,
): Promise<Pick<StepFacts, 'isCapped' | 'digest'>> {
  if (category === undefined || category.is_critical) return {};
  const isMail = step.channel === 'email' && category.digest !== null;
  if (category.cap === null && !isMail) return {};
  const [row] = await handle.query(readLimits({ ...useOf(step, category), category: category.name, isMail }));
  const { used = 0, digest = 'open' } = row ?? {};
  return { isCapped: category.cap !== null && used >= category.cap.count, digest };
}

/** Counts a notification for the cap of its category, directly before it is sent. @returns false if the cap is reached */
export async function takeCap(handle: Queryable, step: CappedStep, category: Category): Promise<boolean> {
  if (category.cap === null || category.is_critical) return true;
  const rows = await handle.query(takePlace({ ...useOf(step, category), count: category.cap.count }));
  return rows.length > 0;
}
