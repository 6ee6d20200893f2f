import type { Queryable } from '../../database/database.js';
import { bound, compose, literal, type Sql, sql } from '../../database/sql.js';

/** To whom a publication goes, as it is stored. */
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

/** The most users that a chunk examines. */
const maxExamined = 20_000;

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
 * Reads the recipients of the next chunk, in the order of their ids: those who match now, and were there when the publication
 * started.
 * @param after the last user of the chunk before
 */
export async function readRecipients(
  tx: Queryable,
  userCondition: UserCondition,
  source: RecipientSource,
  { after, startedAt, limit }: { readonly after: string; readonly startedAt: string; readonly limit: number },
): Promise<RecipientPage> {
  const { target } = source;
  const from = await candidates(tx, userCondition, source, after);
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
    position: isFull ? last : 'users' in target ? await lastExamined(tx, after) : null,
  };
}

/** SQL: what follows `from`: the users after one, with a condition. */
async function candidates(
  tx: Queryable,
  userCondition: UserCondition,
  { id, target, topicId }: RecipientSource,
  after: string,
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
  return sql`(select * from users where id > ${bound(after)}::uuid order by id limit ${literal(maxExamined)}) u
      where ${condition}`;
}

/** The last user of a page that was examined to its end. Null: no more users follow. */
async function lastExamined(tx: Queryable, after: string): Promise<string | null> {
  const [row] = await tx.query(
    compose<{ id: string }>(sql`
      select id from users where id > ${bound(after)}::uuid order by id offset ${literal(maxExamined - 1)} limit 1`),
  );
  return row?.id ?? null;
}

/** Up to this number, recipients are counted. */
const maxCounted = 100_000;

/** The number of recipients, if the publication started now. */
export async function countRecipients(
  handle: Queryable,
  userCondition: UserCondition,
  { target, topicId }: Pick<RecipientSource, 'target' | 'topicId'>,
): Promise<number> {
  if ('count' in target) return target.count;
  const matching =
    'topic' in target
      ? sql`subscriptions s join users u on u.id = s.user_id
            where s.topic_id = ${bound(topicId)}::uuid and u.status = 'active'`
      : sql`users u where u.status = 'active'${
          'users' in target ? sql` and ${await userCondition(handle, target.users)}` : sql``
        }`;
  const [row] = await handle.query(
    compose<{ found: number }>(
      sql`select count(*)::int as found from (select from ${matching} limit ${literal(maxCounted + 1)}) counted`,
    ),
  );
  const found = row?.found ?? 0;
  if (found <= maxCounted) return found;
  const [plan] = await handle.query(
    compose<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>(sql`explain (format json) select from ${matching}`),
  );
  return Math.max(found, plan?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0);
}
