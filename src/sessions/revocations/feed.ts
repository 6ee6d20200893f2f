import { feedOf } from '../../audit/stream/feed.js';
import {
  type Position,
  parsePosition,
  parseSnapshot,
  positionText,
  type Snapshot,
} from '../../audit/stream/position.js';
import { timeText } from '../../database/clock.js';
import type { Handle } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';

/*
 * The revocations in the order in which they become visible. A row has no `told_at` at first: the first reader that sees it writes the time,
 * which is then later than the commit, and later than every token that was issued without knowledge of the row.
 */

/** An event of the stream. One of `sid`, `sub` and `kid` is set. */
export type Revocation = { readonly before: string } & (
  | { readonly sid: string }
  | { readonly sub: string }
  | { readonly kid: string }
);

/** How far back a stream without a position begins, in seconds: longer than the longest access token lasts. */
const backlogSeconds = 20 * 60;
const backlog = sql`${literal(backlogSeconds)} * interval '1 second'`;

interface Row {
  readonly sid: string | null;
  readonly sub: string | null;
  readonly kid: string | null;
  readonly before: string | null;
}

/** SQL: the columns of `Row`. */
const columns = sql`sid, case when sid is null then user_id end as sub, kid, ${timeText(sql`told_at`)} as before`;

function revocationOf({ sid, sub, kid, before }: Row): Revocation | undefined {
  // Expired rows have been deleted.
  if (before === null) return undefined;
  if (sid !== null) return { sid, before };
  if (sub !== null) return { sub, before };
  return kid === null ? undefined : { kid, before };
}

export const createRevocationFeed = feedOf<Row, Revocation>({
  name: 'revocations_read',
  table: 'revocations',
  // Rows stay longer than a position is accepted (`isTooOld`).
  hasAllFrom: () => sql`true`,
  item: sql`(select ${columns} from revocations told
      where told.transaction = fed.transaction and told.created_at = fed.created_at and told.id = fed.id)`,
  itemOf: revocationOf,
});

const stampAll = statement<object, { seen: string; through: string }>(
  'revocations_stamp',
  () => sql`
  with untold as materialized (
    select transaction, created_at, id from revocations where told_at is null order by created_at, id for no key update),
  told as (
    update revocations r set told_at = db_now() from untold
    where (r.transaction, r.created_at, r.id) = (untold.transaction, untold.created_at, untold.id))
  select pg_current_snapshot()::text as seen, ${timeText(sql`db_transaction_time()`)} as through`,
);

/**
 * Sets the time of all visible revocations that have none.
 * @returns the snapshot in which all revocations have a time, and a time: the snapshot contains everything that was committed before it
 */
export async function stampRevocations(handle: Handle): Promise<{ readonly seen: Snapshot; readonly through: string }> {
  const [row] = await handle.query(stampAll({}));
  if (row === undefined) throw new Error('a query without a condition returned no row');
  return { seen: parseSnapshot(row.seen), through: row.through };
}

const stampOfUser = statement<{ userId: string }>(
  'revocations_stamp_user',
  (p) => sql`
  with untold as materialized (
    select transaction, created_at, id from revocations where user_id = ${p.userId} and told_at is null
    order by created_at, id for no key update)
  update revocations r set told_at = db_now() from untold
  where (r.transaction, r.created_at, r.id) = (untold.transaction, untold.created_at, untold.id)`,
);

/** Sets the time of a user's revocations that have none. */
export async function stampRevocationsOf(handle: Handle, userId: string): Promise<void> {
  await handle.query(stampOfUser({ userId }));
}

interface BacklogRow extends Row {
  readonly created_at: string;
  readonly id: string;
}

const selectBacklog = statement<{ createdAt: string | null; id: string | null; limit: number }, BacklogRow>(
  'revocations_backlog',
  (p) => sql`
  select ${columns}, created_at::text as created_at, id from revocations
  where told_at is not null and created_at > db_now() - ${backlog}
    and (${p.createdAt}::timestamptz is null or (created_at, id) > (${p.createdAt}::timestamptz, ${p.id}::uuid))
  order by created_at, id limit ${p.limit}::bigint`,
);

/** The revocations of the last 20 minutes that have a time, in pages. */
export async function* readBacklog(handle: Handle, limit: number): AsyncGenerator<readonly Revocation[]> {
  let last: BacklogRow | undefined;
  for (;;) {
    const rows: readonly BacklogRow[] = await handle.query(
      selectBacklog({ createdAt: last?.created_at ?? null, id: last?.id ?? null, limit }),
    );
    yield rows.flatMap((row) => revocationOf(row) ?? []);
    last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
  }
}

const confirm = statement<object, { now: string }>(
  'revocations_confirm',
  () => sql`
  select ${timeText(sql`db_now()`)} as now from (select pg_logical_emit_message(true, 'postern', '')) written`,
);

/**
 * Confirms that this is the primary by a commit. A former primary still answers reads, but its commits wait for its standby.
 * @returns the time of the database before the commit
 */
export async function confirmPrimary(handle: Handle): Promise<string> {
  const [row] = await handle.query(confirm({}));
  if (row === undefined) throw new Error('a query without a condition returned no row');
  return row.now;
}

/** The id of an event: the position, and the second of the database's clock in which it was current. */
export const feedId = (position: Position, time: string): string =>
  `${positionText(position)}~${Math.floor(Date.parse(time) / 1000).toString(36)}`;

/** Returns the position and its second, or undefined if `feedId` did not write the text. */
export function parseFeedId(text: string): { readonly position: Position; readonly second: number } | undefined {
  const [, place = '', digits = ''] = /^(.+)~([0-9a-z]{1,8})$/.exec(text) ?? [];
  const position = parsePosition(place);
  return position === undefined ? undefined : { position, second: Number.parseInt(digits, 36) };
}

/** Whether rows after a position of this age may be gone. @param time the database's */
export function isTooOld(second: number, time: string): boolean {
  const age = Date.parse(time) / 1000 - second;
  return age > backlogSeconds || age < -60;
}
