import { type Handle, isStorageFailure, type Queryable } from '../../database/database.js';
import { bound, compose, literal, type Sql, sql } from '../../database/sql.js';
import { maxChunk } from './pace.js';

/** The recipients of a publication, as they are stored. */
export type Target =
  | { readonly topic: string }
  | { readonly users: string }
  | { readonly everyone: true }
  | { readonly count: number };

/** SQL: whether the user `u` matches a filter. The composition root implements it. */
export type UserCondition = (handle: Queryable, filter: string) => Promise<Sql>;

export interface RecipientSource {
  readonly id: string;
  readonly target: Target;
  readonly topicId: string | null;
}

/** A chunk examines this many users for each recipient that it may have. */
const examinedForEach = 10;
/** The maximum number of users that a chunk examines: 20,000. */
const maxExamined = maxChunk * examinedForEach;

interface RecipientRow {
  id: string;
  is_active: boolean;
  /** Whether the user was deactivated after the start. */
  is_late: boolean;
}

/** The recipients of one chunk. */
export interface RecipientPage {
  readonly active: readonly string[];
  /** Users who were deactivated after the start. */
  readonly skipped: number;
  /** The last user that was examined. Null: there are no more users. */
  readonly position: string | null;
}

/**
 * Reads the recipients of the next chunk, in the order of their ids. They match now, and existed when the publication started.
 * @param after the last user of the chunk before
 * @param limit the most recipients
 * @param size how many recipients the database writes in time. A filter examines users in proportion to it
 */
export async function readRecipients(
  tx: Queryable,
  userCondition: UserCondition,
  source: RecipientSource,
  {
    after,
    startedAt,
    limit,
    size,
  }: { readonly after: string; readonly startedAt: string; readonly limit: number; readonly size: number },
): Promise<RecipientPage> {
  const { target } = source;
  // Read before the users: new users between two statements could move a later end, and some would be missed or repeated.
  const end = 'users' in target ? await lastExamined(tx, after, Math.min(maxExamined, size * examinedForEach)) : null;
  const from = await candidates(tx, userCondition, source, { after, end });
  const rows = await tx.query(
    compose<RecipientRow>(sql`
      select u.id, u.status = 'active' as is_active, u.updated_at > ${bound(startedAt)}::timestamptz as is_late
      from ${from}
        and (u.inserted_at is null or u.inserted_at <= ${bound(startedAt)}::timestamptz)
      order by u.id limit ${literal(limit)}`),
  );
  const last = rows.at(-1)?.id;
  const isFull = rows.length === limit && last !== undefined;
  return {
    active: rows.flatMap(({ id, is_active }) => (is_active ? id : [])),
    skipped: 'count' in target ? 0 : rows.filter(({ is_active, is_late }) => !is_active && is_late).length,
    position: isFull ? last : end,
  };
}

/** SQL after `from`: the users after a position, and a condition. */
async function candidates(
  tx: Queryable,
  userCondition: UserCondition,
  { id, target, topicId }: RecipientSource,
  { after, end }: { readonly after: string; readonly end: string | null },
): Promise<Sql> {
  if ('topic' in target) {
    return sql`subscriptions s join users u on u.id = s.user_id
      where s.topic_id = ${bound(topicId)}::uuid and s.user_id > ${bound(after)}::uuid`;
  }
  if ('count' in target) {
    return sql`publication_recipients r join users u on u.id = r.user_id
      where r.publication_id = ${bound(id)}::uuid and r.user_id > ${bound(after)}::uuid`;
  }
  if ('everyone' in target) return sql`users u where u.id > ${bound(after)}::uuid`;
  const condition = await userCondition(tx, target.users);
  const until = end === null ? sql`` : sql`and id <= ${bound(end)}::uuid`;
  // With `offset 0`, the planner reads the users by their key, whatever the condition.
  return sql`(select * from users where id > ${bound(after)}::uuid ${until} order by id offset 0) u
      where ${condition}`;
}

/** The last user of a page that is examined to its end. Null: no more users follow. */
async function lastExamined(tx: Queryable, after: string, examined: number): Promise<string | null> {
  const [row] = await tx.query(
    compose<{ id: string }>(sql`
      select id from users where id > ${bound(after)}::uuid order by id offset ${bound(examined - 1)}::int limit 1`),
  );
  return row?.id ?? null;
}

type Counted = Pick<RecipientSource, 'target' | 'topicId'>;

/** SQL after `from`: the users whom the publication would reach if it started now. */
async function matching(handle: Queryable, userCondition: UserCondition, { target, topicId }: Counted): Promise<Sql> {
  if ('topic' in target) {
    return sql`subscriptions s join users u on u.id = s.user_id
            where s.topic_id = ${bound(topicId)}::uuid and u.status = 'active'`;
  }
  const condition = 'users' in target ? sql` and ${await userCondition(handle, target.users)}` : sql``;
  return sql`users u where u.status = 'active'${condition}`;
}

/** The planner's estimate of the recipients, which reads no users. */
export async function plannedRecipients(
  handle: Queryable,
  userCondition: UserCondition,
  source: Counted,
): Promise<number> {
  if ('count' in source.target) return source.target.count;
  const from = await matching(handle, userCondition, source);
  const [plan] = await handle.query(
    compose<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>(sql`explain (format json) select from ${from}`),
  );
  return plan?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
}

/** Up to this number, recipients are counted. */
const maxCounted = 100_000;

/** Milliseconds for the count. */
const countTime = 500;

/**
 * The number of recipients, if the publication started now: exact up to 100,000.
 * @returns undefined if the count took too long
 */
export async function countRecipients(
  database: Handle,
  userCondition: UserCondition,
  source: Counted,
): Promise<number | undefined> {
  if ('count' in source.target) return source.target.count;
  try {
    return await database.transaction(async (tx) => {
      await tx.query(compose(sql`select set_config('statement_timeout', ${bound(`${countTime}ms`)}, true)`));
      const from = await matching(tx, userCondition, source);
      const [row] = await tx.query(
        compose<{ found: number }>(
          sql`select count(*)::int as found from (select from ${from} limit ${literal(maxCounted + 1)}) counted`,
        ),
      );
      const found = row?.found ?? 0;
      return found <= maxCounted ? found : Math.max(found, await plannedRecipients(tx, userCondition, source));
    });
  } catch (error) {
    if (isStorageFailure(error)) return undefined;
    throw error;
  }
}

/** The number of recipients, if the publication started now: the planner's estimate if the count takes too long. */
export async function estimateRecipients(
  database: Handle,
  userCondition: UserCondition,
  source: Counted,
): Promise<number> {
  const counted = await countRecipients(database, userCondition, source);
  return counted ?? plannedRecipients(database, userCondition, source);
}
