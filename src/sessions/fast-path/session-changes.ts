import type { Session } from '../../contract/session.js';
import { arrayText, byteaText } from '../../database/array-text.js';
import type { Handle } from '../../database/database.js';
import { literal, type SqlPart, sql, statement } from '../../database/sql.js';
import type { ParsedToken } from '../../lib/crypto/token-strings.js';
import { type Instant, instantFromPg } from '../../lib/times.js';
import { endReplacedSessions, type SessionRow, sessionOf, sessionOfToken } from '../verifier.js';

/** The position of the last read of changes: a snapshot of the database, and the run of the server that made it. */
export interface SeenSnapshot {
  readonly snapshot: string;
  /**
   * Identifies a start of the server and a copy of the table. The transaction numbers of another run mean other
   * transactions. Empty after a crash and after some restores, until the maintenance task runs.
   */
  readonly runId: string;
}

/** The users whose sessions may have changed since an earlier snapshot. */
export interface SessionChanges extends SeenSnapshot {
  /** When the query arrived at the database: not later than the snapshot. */
  readonly now: Instant;
  /**
   * False if the list may be incomplete: rows of such changes may be deleted already, or there are `maxChanges` or more
   * changes.
   */
  readonly complete: boolean;
  /** Ids of users. */
  readonly changed: readonly string[];
}

/**
 * The maximum number of changes that each part of the query returns. One part has the changes of later transactions, and each transaction
 * that was running has a part. With so many changes it is faster to clear the cache.
 */
const maxChanges = 10_000;
const changesLimit = literal(maxChanges);

/**
 * SQL: the row of `session_changes_floor`. Changes of transactions before its `floor` may be deleted. Nothing is found if the table was
 * restored with triggers disabled: then another transaction than `written_by` wrote the row.
 */
const trustedFloor = sql`session_changes_floor where xmin = written_by::xid`;

/**
 * SQL: the changes since a snapshot, in one text array, because each column of a result has a cost. A transaction that
 * the snapshot did not see was running at that time, or has a later number. Scalar subqueries hide the parameters from
 * the planner, so that it plans once. `order by` makes it use the index (decision 45).
 */
const changesSince = (since: SqlPart) => {
  const snapshot = sql`${since}::text::pg_snapshot`;
  return sql`array[
       db_transaction_time()::text,
       pg_current_snapshot()::text,
       coalesce((select concat_ws(' ', pg_postmaster_start_time(), tableoid, run) from ${trustedFloor}), ''),
       coalesce((select floor <= (select pg_snapshot_xmin(${snapshot})) from ${trustedFloor})::text, '')
     ] || array(
       (select c.user_id::text from session_changes c where c.xid >= (select pg_snapshot_xmax(${snapshot}))
        order by c.xid limit ${changesLimit})
       union all
       select c.user_id::text from pg_snapshot_xip((select ${snapshot})) as running(xid) cross join lateral (
         select user_id from session_changes c where c.xid = running.xid order by c.xid limit ${changesLimit}) c
     ) as changes`;
};

interface ChangesRow {
  readonly changes: readonly string[];
}

interface FoundRow extends SessionRow {
  readonly changes: null;
  readonly place: number;
}

const findChanges = statement<{ since: string | null }, ChangesRow>(
  'session_changes',
  (p) => sql`select ${changesSince(p.since)}`,
);

/** The arrays are texts in PostgreSQL's notation. Entry n of each array belongs to the same token. */
interface FindValues {
  readonly since: string | null;
  readonly userIds: string;
  readonly ids: string;
  readonly digests: string;
}

/**
 * The changes, and in the same snapshot the valid sessions of many tokens. It locks nothing. The look-ups are lateral with
 * a limit, so the planner can only look up key by key, even with wrong estimates of the size of arrays and tables.
 */
const findChangesAndSessions = statement<FindValues, ChangesRow | FoundRow>(
  'session_verify_many',
  (p) => sql`
  select ${changesSince(p.since)},
     null::bigint as place, null::uuid as device_id, null::timestamptz as created_at, null::timestamptz as expires_at,
     null::uuid as replaces, null::jsonb as roles, null::jsonb as claims,
     null::timestamptz as authenticated_at, null::timestamptz as proven_at, null::text as authenticator,
     null::text as second_factor, null::text[] as proven_by, null::uuid as acting_operator, null::boolean as acting_writes
  union all
  select null, requested.place, found.*
  from unnest((select ${p.userIds}::uuid[]), (select ${p.ids}::uuid[]), (select ${p.digests}::bytea[]))
    with ordinality requested (user_id, id, digest, place)
  cross join lateral (
    ${sessionOfToken({ userId: sql`requested.user_id`, id: sql`requested.id`, digest: sql`requested.digest` })}
    limit 1) found`,
);

/**
 * Reads the changes since a snapshot, and the valid sessions of tokens, by one query.
 * @param since undefined: changes are unknown, so `complete` is false
 * @returns the sessions by the SHA-256 of their tokens, in hexadecimal digits
 */
export async function readChanges(
  database: Handle,
  tokens: readonly ParsedToken[],
  since: SeenSnapshot | undefined,
): Promise<{ changes: SessionChanges; found: Map<string, Session> }> {
  const snapshot = since?.snapshot ?? null;
  const query =
    tokens.length === 0
      ? database.query<ChangesRow | FoundRow>(findChanges({ since: snapshot }))
      : database.query(
          findChangesAndSessions({
            since: snapshot,
            userIds: arrayText(tokens.map(({ ids: [userId] }) => userId)),
            ids: arrayText(tokens.map(({ ids: [, id] }) => id)),
            digests: arrayText(tokens.map(({ sha256 }) => byteaText(sha256))),
          }),
        );
  let changes: SessionChanges | undefined;
  const sessionsByDigest = new Map<string, Session>();
  const replacing: ParsedToken[] = [];
  for (const row of await query) {
    if (row.changes !== null) {
      changes = changesOf(row.changes);
      continue;
    }
    const token = tokens[row.place - 1];
    if (token === undefined) continue;
    sessionsByDigest.set(token.sha256, sessionOf(token, row));
    if (row.replaces !== null) replacing.push(token);
  }
  if (changes === undefined) throw new Error('the result has no row of changes');
  if (replacing.length > 0) await endReplacedSessions(database, replacing);
  return { changes, found: sessionsByDigest };
}

/** Reads the array of `changesSince`. */
function changesOf([now = '', snapshot = '', runId = '', complete, ...changedIds]: readonly string[]): SessionChanges {
  const isComplete = complete === 'true' && changedIds.length < maxChanges;
  return { now: instantFromPg(now), snapshot, runId, complete: isComplete, changed: changedIds };
}
