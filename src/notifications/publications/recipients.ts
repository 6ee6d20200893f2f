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

/** A filter examines this many users for each recipient that the chunk may have: at most 20,000 in all. */
const examinedForEach = 10;

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
  const examined = 'users' in target ? Math.min(maxChunk, size) * examinedForEach : limit;
  // The planner does not know the limit of `page`, and expects to need a tenth of the rows, so it reads them by their key. If it knew the
  // limit and had no statistics, as after the import of a list, it would collect and sort all users that follow.
  // A page of all users has all between its first and its last one. So the planner can read these, and not each alone. Others are
  // looked up by their ids (`offset 0`): with statistics, the planner would read the whole table of users for each chunk.
  const users =
    'users' in target
      ? sql`page join users u on u.id = page.id and u.id > ${bound(after)}::uuid
          and u.id <= (select id from page order by id desc limit 1) and (${await userCondition(tx, target.users)})`
      : sql`page, lateral (select * from users where users.id = page.id offset 0) u`;
  const [page] = await tx.query(
    compose<RecipientPage>(sql`
      with page as materialized (${candidates(source, after)} order by 1 limit (select ${literal(examined)})),
      found as materialized (
        select u.id, u.status = 'active' as is_active, u.updated_at > ${bound(startedAt)}::timestamptz as is_late
        from ${users}
        where (u.inserted_at is null or u.inserted_at <= ${bound(startedAt)}::timestamptz)
        order by u.id limit ${literal(limit)}
      )
      select array(select id from found where is_active order by id) as active,
             (select count(*)::int from found where not is_active and is_late) as skipped,
             case when (select count(*) from found) = ${literal(limit)} then (select id from found order by id desc limit 1)
                  when (select count(*) from page) = ${literal(examined)} then (select id from page order by id desc limit 1)
                  end as position`),
  );
  if (page === undefined) throw new Error('a query of one row returned none');
  return { ...page, skipped: 'count' in target ? 0 : page.skipped };
}

/** SQL: the ids of the users after a position whom a publication can reach. */
function candidates({ id, target, topicId }: RecipientSource, after: string): Sql {
  if ('topic' in target) {
    return sql`select user_id as id from subscriptions
      where topic_id = ${bound(topicId)}::uuid and user_id > ${bound(after)}::uuid`;
  }
  if ('count' in target) {
    return sql`select user_id as id from publication_recipients
      where publication_id = ${bound(id)}::uuid and user_id > ${bound(after)}::uuid`;
  }
  return sql`select id from users where id > ${bound(after)}::uuid`;
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
