import type { Category } from '../../contract/category.js';
import type { Database, Queryable, Transaction } from '../../database/database.js';
import { literal, type Sql, type SqlPart, sql, statement } from '../../database/sql.js';
import { backOff } from '../../lib/back-off.js';
import { newId } from '../../lib/ids.js';
import { parseDuration } from '../../lib/times.js';
import type { Counters } from '../../statistics/counters.js';
import type { KnownCategories } from '../categories/categories.js';
import { categoryOf } from '../inbox/filter-fields.js';
import { isReadNow, joinReadState } from '../inbox/unread.js';
import { countSteps, recordDeliveries } from './announce.js';
import type { CellChoice } from './decide.js';
import { stepPriority } from './queue.js';

/** A digest stores the ids of this many of its newest notifications. It only counts the others. */
const maxMembers = 1000;
/** A digest looks at this many of a user's newest notifications, so that closing it ends long before the statement timeout. */
const maxLookedAt = 20_000;

/** The default choice of a category. Null if it is critical, because it then ignores choices. */
export const defaultMailChoice = (category: Category | undefined): CellChoice | null =>
  category?.is_critical ? null : (category?.defaults.email ?? 'on');

/** The delay of the category's mail, in milliseconds. */
const delayOf = (category: Category | undefined): number =>
  parseDuration(category?.steps.find(({ channel }) => channel === 'email')?.after ?? '') ?? 0;

/** SQL: the user's choice about mails for the topic of a notification, otherwise for its category. Null if there is none. */
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
 * Opens the digest of each user, unless it is open. A digest begins with the first notification that joins it, but after the end of the
 * former digest. Returns earlier notifications, which are mailed alone.
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

/** Adds notifications of a category to the digests of their users. @returns the notifications that must be mailed alone */
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

/** Selects due digests, the oldest first. Skips digests that another instance has locked. */
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
 * Locks the mails of these users that were not handed over. Because a hand-over needs the same lock, the next statement knows which mails
 * were sent.
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
 * Closes digests: finds the members, writes one mail with its job, and removes the single mails of the members. An empty digest has no
 * mail. A notification is left out if it was read, has expired, or the user has turned off mails of its topic or category. `defaults` has
 * the choice for users without one. It is null for a critical category, which ignores choices.
 *
 * The reason why a notification is left out is stored, announced and counted, unless its step is not due or it has a single mail. This may
 * happen a second time if its step has refused it before, because a check for each notification would take too long. Readers get the
 * first reason.
 *
 * Each row has the number of mails, and how many refusals of a category have a state. There is a single row, without a state, if there is
 * no refusal.
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
  { mails: number; category: string | null; state: 'expired' | 'skipped' | null; count: number | null }
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
    select added.mails, refusals.category, refusals.state, refusals.count
    from (
        select count(*)::integer as mails from graphile_worker.add_jobs(array(
          select row('step.send.email', json_build_object('user_id', user_id, 'id', id, 'attempt', 0),
                     null, null, null, null, ${stepPriority(sql`0`)}, null)::graphile_worker.job_spec
          from delivery order by id))
      ) added
      left join (select category, state, count(*)::integer as count from refusal group by category, state) refusals on true`,
);

/** The maximum number of digests whose failures are remembered. */
const maxRemembered = 1000;

/**
 * Creates the function that closes due digests in one transaction. So a process that dies loses and repeats nothing. After a failure, the
 * next run takes half as many digests. If a single digest fails twice, it is postponed, so that it does not delay the others.
 * @returns whether a digest was due
 * @throws errors of the database
 */
export function createDigestClosing({
  database,
  categories,
  counters,
}: {
  readonly database: Database;
  readonly categories: Pick<KnownCategories, 'get' | 'refreshFor'>;
  readonly counters: Counters;
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
    // The first failure may be a lost connection.
    if (count === 1) return;
    await database.query(postpone({ userId: alone.user_id, category: alone.category, seconds: backOff(count - 1) }));
  }

  return async () => {
    let due: readonly DueRow[] = [];
    try {
      await database.transaction(async (tx) => {
        due = await tx.query(takeDue({ max: size }));
        if (due.length > 0) await closeAll(tx, due, { categories, counters });
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
  {
    categories: known,
    counters,
  }: { readonly categories: Pick<KnownCategories, 'get' | 'refreshFor'>; readonly counters: Counters },
): Promise<void> {
  const userIds = due.map(({ user_id }) => user_id);
  await tx.query(lockSingles({ userIds }));
  const categories = due.map(({ category }) => category);
  await known.refreshFor(tx, [...new Set(categories)]);
  const defaults = categories.map((name) => defaultMailChoice(known.get(name)));
  const delays = categories.map((name) => delayOf(known.get(name)));
  const refusals = await tx.query(close({ userIds, categories, defaults, delays, ids: due.map(() => newId()) }));
  tx.onCommit(() => {
    for (const { category, state, count } of refusals) {
      if (state !== null) countSteps(counters, { channel: 'email', category, outcome: state }, count ?? 0);
    }
  });
}
