import type { Category } from '../../contract/category.js';
import type { Database, Queryable, Transaction } from '../../database/database.js';
import { literal, type Sql, type SqlPart, sql, statement } from '../../database/sql.js';
import { backOff } from '../../lib/back-off.js';
import { newId } from '../../lib/ids.js';
import { parseDuration } from '../../lib/times.js';
import type { KnownCategories } from '../categories/categories.js';
import { categoryOf } from '../inbox/filter-fields.js';
import { isReadNow, joinReadState } from '../inbox/unread.js';
import { recordDeliveries } from './announce.js';
import type { CellChoice } from './decide.js';
import { stepPriority } from './queue.js';

/** The newest members of a digest that its row names. What comes before them is only counted. */
const maxMembers = 1000;
/** Only so many of the newest notifications of a user can be in a digest: a close must end long before the statement timeout. */
const maxLookedAt = 20_000;

/** What counts for users without a choice. Null: the category is critical, and asks for no choice. */
export const defaultMailChoice = (category: Category | undefined): CellChoice | null =>
  category?.is_critical ? null : (category?.defaults.email ?? 'on');

/** Milliseconds from a notification of the category to its mail. */
const delayOf = (category: Category | undefined): number =>
  parseDuration(category?.steps.find(({ channel }) => channel === 'email')?.after ?? '') ?? 0;

/** SQL: what a user has chosen about mails of a notification: for its topic, else for its category. Null: nothing. */
export const mailChoice = ({
  topics,
  topic,
  categories,
  category,
}: Readonly<Record<'topics' | 'topic' | 'categories' | 'category', SqlPart>>): Sql =>
  sql`coalesce(${topics} -> ${topic} -> 'email' ->> 'value', ${categories} -> ${category} -> 'email' ->> 'value')`;

interface Joining {
  readonly userIds: readonly string[];
  readonly ids: readonly string[];
  readonly category: string;
  readonly every: string;
  /** DEFAULT_TIME_ZONE. */
  readonly zone: string;
}

/**
 * Opens the digest of each user, unless it is open. A digest that opens begins with the first notification that joins it, and never
 * before the end of the last one. Returns the notifications that come before it: they are sent alone.
 */
const joinRows = statement<Joining, { user_id: string; id: string }>(
  'digests_join',
  (p) => sql`
    with item as materialized (
      select n.user_id, n.id, n.sequence, coalesce(n.sequence <= last.last_closed_through, false) as is_past
      from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[]) as joining (user_id, id)
        join notifications n on n.user_id = joining.user_id and n.id = joining.id
        left join digests last on last.user_id = n.user_id and last.category = ${p.category} and last.channel = 'email'
    ),
    joined as (
      insert into digests (user_id, category, channel, closed_through, due_at, updated_at)
      select first.user_id, ${p.category}, 'email', first.sequence - 1,
             digest_due(${p.every}, coalesce(preferences.time_zone, ${p.zone}), db_now()), db_now()
      from (select user_id, min(sequence) as sequence from item where not is_past group by user_id) first
        left join preferences on preferences.user_id = first.user_id
      order by first.user_id
      on conflict (user_id, category, channel) do update
      set closed_through = greatest(digests.last_closed_through, least(
            excluded.closed_through, case when digests.due_at is not null then digests.closed_through end)),
          due_at = coalesce(digests.due_at, excluded.due_at), updated_at = excluded.updated_at
      returning user_id, closed_through
    )
    select item.user_id, item.id from item left join joined using (user_id)
    where item.is_past or item.sequence <= joined.closed_through`,
);

/** Lets notifications of a category join the digests of their users. @returns those that cannot: they are sent alone */
export async function joinDigests(
  tx: Queryable,
  items: { readonly userIds: readonly string[]; readonly ids: readonly string[] },
  { category, zone }: { readonly category: Category; readonly zone: string },
): Promise<{ userIds: string[]; ids: string[] }> {
  const every = category.digest?.every ?? '1d';
  const late = await tx.query(joinRows({ ...items, category: category.name, every, zone }));
  return { userIds: late.map(({ user_id }) => user_id), ids: late.map(({ id }) => id) };
}

/** The maximum number of digests that one run closes. */
const digestsPerRun = 100;

interface DueRow {
  user_id: string;
  category: string;
}

/** The digests that are due, the oldest first. Those that another instance has locked are skipped. */
const takeDue = statement<{ max: number }, DueRow>(
  'digests_take',
  (p) => sql`
    select user_id, category from digests where due_at <= (select db_now())
    order by due_at limit ${p.max}::integer for update skip locked`,
);

/** Another instance may have closed the digest meanwhile. */
const postpone = statement<{ userId: string; category: string; seconds: number }>(
  'digest_postpone',
  (p) => sql`
    update digests set due_at = db_now() + ${p.seconds}::float8 * interval '1 second', updated_at = db_now()
    where user_id = ${p.userId} and category = ${p.category} and channel = 'email' and due_at <= db_now()`,
);

/**
 * Locks the mails of these users that are not handed over yet. The next statement sees which of them were: a mail is handed over only
 * under the lock of its row.
 */
const lockSingles = statement<{ userIds: readonly string[] }, { id: string }>(
  'digests_lock_singles',
  (p) => sql`
    select id from step_deliveries
    where user_id = any (${p.userIds}::uuid[]) and channel = 'email' and state in ('queued', 'held') and member_ids is null
      and first_attempt_at is null
    order by user_id, id for update`,
);

/**
 * Closes digests: finds the members, writes the mail and its job, and removes the mails of members that would be sent alone. An empty
 * digest has no mail. A notification is no member if it was read, has expired, or the user has turned mails of its topic or category off;
 * `defaults` holds the choice for those without one. A critical category asks for none: its default is null.
 *
 * Why a notification is no member is stored, unless its step is not due yet or has a mail of its own. A step may have been refused before:
 * to look that up for each notification would take too long. Who asks gets the first reason.
 */
const close = statement<
  {
    readonly userIds: readonly string[];
    readonly categories: readonly string[];
    readonly defaults: readonly (CellChoice | null)[];
    /** Milliseconds from the notification to its mail. */
    readonly delays: readonly number[];
    readonly ids: readonly string[];
  },
  { mails: number }
>(
  'digests_close',
  (p) => sql`
    with due as materialized (
      select d.user_id, d.category, d.closed_through, new.id, new.by_default, new.delay,
             (select max(sequence) from notifications where user_id = d.user_id) as head, preferences.topics, preferences.categories
      from unnest(${p.userIds}::uuid[], ${p.categories}::text[], ${p.defaults}::text[], ${p.delays}::float8[], ${p.ids}::uuid[])
             as new (user_id, category, by_default, delay, id)
        join digests d on d.user_id = new.user_id and d.category = new.category and d.channel = 'email'
        left join preferences on preferences.user_id = d.user_id
    ),
    looked_at as materialized (
      select due.id as digest_id, due.user_id, due.category, n.id, n.sequence, n.created_at, n.reason,
             n.created_at <= db_now() - due.delay * interval '1 ms' as is_due
      from due cross join lateral (
        select listed.id, listed.sequence, listed.created_at,
               case when listed.expires_at <= db_now() then 'notification_expired'
                    when ${isReadNow(sql`listed.sequence`)} then 'read'
                    when due.by_default is not null
                      and coalesce(${mailChoice({ topics: sql`due.topics`, topic: sql`listed.topic`, categories: sql`due.categories`, category: sql`due.category` })},
                                   due.by_default) = 'off' then 'preference_off' end as reason
        from (
          select id, sequence, topic, created_at, expires_at from notifications
          where user_id = due.user_id and sequence > greatest(due.closed_through, due.head - ${literal(maxLookedAt)}) and ${categoryOf} = due.category
            and is_hidden is not true
        ) listed ${joinReadState(sql`due.user_id`, sql`listed.sequence`)}
        where not exists (
            select from step_deliveries sent
            where sent.user_id = due.user_id and sent.notification_id = listed.id and sent.channel = 'email'
              and sent.member_ids is null and sent.first_attempt_at is not null)
      ) n
    ),
    member as (select * from looked_at where reason is null),
    refusal as (
      select user_id, null::uuid as delivery_id, id as notification_id, 'email' as channel, null::uuid as device_id, category,
             case reason when 'notification_expired' then 'expired' else 'skipped' end as state, reason, created_at
      from looked_at
      where is_due and reason is not null and not exists (
        select from step_deliveries own
        where own.user_id = looked_at.user_id and own.notification_id = looked_at.id and own.channel = 'email')
    ),
    refused as (
      insert into step_refusals (id, notification_ids, channel, state, reason, published_at, created_at)
      select gen_random_uuid(), array_agg(notification_id), channel, state, reason, min(created_at), db_now()
      from refusal group by channel, state, reason, date_trunc('minute', created_at)
    ),
    event as (${recordDeliveries(sql`refusal`)}
    ),
    closed as (
      update digests d
      set closed_through = greatest(d.closed_through, due.head), last_closed_through = greatest(d.closed_through, due.head),
          due_at = null, updated_at = db_now()
      from due where d.user_id = due.user_id and d.category = due.category and d.channel = 'email'
    ),
    removed as (
      delete from step_deliveries single using member
      where single.user_id = member.user_id and single.notification_id = member.id and single.channel = 'email'
        and single.state in ('held', 'queued') and single.member_ids is null and single.first_attempt_at is null
    ),
    delivery as (
      insert into step_deliveries (user_id, id, notification_id, channel, condition, state, reason, created_at, updated_at,
                                   digest_category, digest_count, member_ids)
      select user_id, digest_id, (array_agg(id order by sequence desc))[1], 'email', 'unread', 'queued', 'waiting', db_now(), db_now(),
             category, count(*), (array_agg(id order by sequence desc))[1:${literal(maxMembers)}]
      from member group by user_id, digest_id, category
      returning user_id, id
    )
    select count(*)::integer as mails from graphile_worker.add_jobs(array(
      select row('step.send.email', json_build_object('user_id', user_id, 'id', id, 'attempt', 0),
                 null, null, null, null, ${stepPriority(sql`0`)}, null)::graphile_worker.job_spec
      from delivery order by id))`,
);

/** The most digests whose failures are remembered. */
const maxRemembered = 1000;

/**
 * Creates the function that closes digests that are due. One transaction closes all of them, so a process that dies loses and repeats
 * nothing. After a failure, the next run takes half as many; a digest that fails alone a second time is due later, with back-off. So none
 * holds up the others.
 * @returns whether a digest was due. It throws what the database throws
 */
export function createDigestClosing({
  database,
  categories,
}: {
  readonly database: Database;
  readonly categories: Pick<KnownCategories, 'get' | 'refreshFor'>;
}): () => Promise<boolean> {
  let size = digestsPerRun;
  /** How often each digest failed alone. */
  const failures = new Map<string, number>();

  async function failed(due: readonly DueRow[]): Promise<void> {
    const [alone, ...more] = due;
    size = Math.max(1, Math.floor(due.length / 2));
    if (alone === undefined || more.length > 0) return;
    const key = `${alone.user_id} ${alone.category}`;
    const count = (failures.get(key) ?? 0) + 1;
    if (failures.size >= maxRemembered) failures.clear();
    failures.set(key, count);
    // The first failure may be that of a connection.
    if (count === 1) return;
    await database.query(postpone({ userId: alone.user_id, category: alone.category, seconds: backOff(count - 1) }));
  }

  return async () => {
    let due: readonly DueRow[] = [];
    try {
      await database.transaction(async (tx) => {
        due = await tx.query(takeDue({ max: size }));
        if (due.length > 0) await closeAll(tx, due, categories);
      });
    } catch (error) {
      await failed(due);
      throw error;
    }
    size = Math.min(digestsPerRun, size * 2);
    for (const { user_id: userId, category } of due) failures.delete(`${userId} ${category}`);
    return due.length > 0;
  };
}

async function closeAll(
  tx: Transaction,
  due: readonly DueRow[],
  known: Pick<KnownCategories, 'get' | 'refreshFor'>,
): Promise<void> {
  const userIds = due.map(({ user_id }) => user_id);
  await tx.query(lockSingles({ userIds }));
  const categories = due.map(({ category }) => category);
  await known.refreshFor(tx, [...new Set(categories)]);
  const defaults = categories.map((name) => defaultMailChoice(known.get(name)));
  const delays = categories.map((name) => delayOf(known.get(name)));
  await tx.query(close({ userIds, categories, defaults, delays, ids: due.map(() => newId()) }));
}
