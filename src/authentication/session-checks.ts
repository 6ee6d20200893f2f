import type { Session } from '../contract/session.js';
import { arrayText, byteaText } from '../database/array-text.js';
import { batched, type LookUp } from '../database/batched.js';
import { clockTolerance, isNotAhead } from '../database/clock.js';
import { type Database, prepared } from '../database/database.js';
import { longestSession } from '../lib/durations.js';
import { sha256Hex } from '../lib/sha256.js';
import { type Instant, instantAfter, instantFromPg } from '../lib/times.js';
import { type ParsedToken, parseToken } from '../lib/token-strings.js';
import { lockHolds } from './accounts.js';
import { createKnownSessions } from './known-sessions.js';

/**
 * SQL: whether it is within the time of a session `s`. One that was made while the clock was ahead would last longer than
 * its lifetime. `isInTime` says the same of a session that was read before.
 */
export const sessionIsInTime = `s.expires_at > db_now() and ${isNotAhead('s.created_at')}
     and s.expires_at <= s.created_at + interval '${longestSession}'`;

/** The sessions that hold right now: revoking one makes this join or one of these conditions fail. */
export const sessionsThatHold = `sessions s
   join authentications a on a.user_id = s.user_id and a.id = s.authentication_id
   join users u on u.id = s.user_id
   where ${sessionIsInTime} and a.status = 'approved' and a.ended_at is null and a.epoch = u.epoch
     and u.status = 'active' and not ${lockHolds}`;

/** SQL: the session of a user's id, an id and a digest, if it holds. One row at most, by three primary keys. */
const liveSession = (userId: string, id: string, digest: string) =>
  `select s.device_id, s.created_at, s.expires_at
   from ${sessionsThatHold} and s.user_id = ${userId} and s.id = ${id} and s.token_digest = ${digest}`;

const findSession = prepared('session_verify', liveSession('$1', '$2', '$3'));

/** Users of whom a query tells at most: with more it is quicker to forget all. */
const mostChanges = 10_000;

/** A row that was restored with its triggers disabled is not signed by the transaction that wrote it, and tells nothing. */
const signedFloor = 'session_changes_floor where xmin = written_by::xid';

/**
 * Whose sessions may have changed since an earlier snapshot of the database, up to the one that this reads.
 *
 * A transaction that the earlier one could not see ran then or has a later number: looked up as those, a transaction that
 * lasts for hours costs nothing. `complete` is false where the note of one might be gone already; `server` is another when
 * what it has numbered may be another history.
 *
 * Parameters come by way of scalar subqueries, here and below: to a plan that sees their values, or the length of arrays,
 * each is worth a plan of its own, and planning costs more than the look-ups. The order of the notes leads to their
 * index, where a plan that does not see the snapshot takes a third of them for new.
 */
const changesSince = (snapshot: string) => `array[
       db_now()::text,
       pg_current_snapshot()::text,
       coalesce((select concat_ws(' ', pg_postmaster_start_time(), tableoid, run) from ${signedFloor}), ''),
       coalesce((select floor <= (select pg_snapshot_xmin(${snapshot})) from ${signedFloor})::text, '')
     ] || array(
       (select c.user_id::text from session_changes c where c.xid >= (select pg_snapshot_xmax(${snapshot}))
        order by c.xid limit ${mostChanges})
       union all
       select c.user_id::text from pg_snapshot_xip((select ${snapshot})) as running(xid) cross join lateral (
         select user_id from session_changes c where c.xid = running.xid order by c.xid limit ${mostChanges}) c
     ) as told`;

/** What `changesSince` says, in one column: each column of an answer costs as much as what is in it. */
function changesOf([now = '', snapshot = '', server = '', complete, ...changed]: readonly string[]): Changes {
  return { now: instantFromPg(now), snapshot, server, complete: complete === 'true', changed };
}

const findChanges = prepared('session_changes', `select ${changesSince('$1::text::pg_snapshot')}`);

/**
 * The same, and in the same snapshot the sessions of many tokens, those of them that hold.
 *
 * The look-ups are lateral and limited, so that whatever the planner thinks of the arrays' length and of the tables it
 * can do nothing but go through the keys, one after the other.
 */
const findChangesAndSessions = prepared(
  'session_verify_many',
  `select ${changesSince('$1::text::pg_snapshot')},
     null::bigint as place, null::uuid as device_id, null::timestamptz as created_at, null::timestamptz as expires_at
   union all
   select null, asked.place, found.*
   from unnest((select $2::uuid[]), (select $3::uuid[]), (select $4::bytea[])) with ordinality asked (user_id, id, digest, place)
   cross join lateral (${liveSession('asked.user_id', 'asked.id', 'asked.digest')} limit 1) found`,
);

/**
 * Whether the session of a token string holds right now, which is: at some moment after it was asked for. Undefined for
 * whatever else the string is; junk is told without a query. With `batching` what is asked for in one turn of the event
 * loop is answered by one query.
 */
export function createSessionChecks(
  database: Database,
  { batching }: { readonly batching: boolean },
): LookUp<string, Session | undefined> {
  if (batching) return createRememberingChecks(database);
  return async (text) => {
    const token = parseToken('session', text);
    if (token === undefined) return undefined;
    const [userId, id] = token.ids;
    const [row] = await database.query<SessionRow>(findSession, [userId, id, token.digest]);
    return row && sessionOf(token, row);
  };
}

/** What `sessionIsInTime` says, of a session for which that was so when it was read. */
const isInTime = ({ created_at, expires_at }: Session, now: Instant) =>
  expires_at > now && (created_at <= now || created_at <= instantAfter(now, clockTolerance));

/** Tokens of one query: most are known, and cost it nothing. */
const mostTokens = 256;
/** Sessions that are remembered at most, with about a kilobyte each. */
const mostSessions = 50_000;

/** What was told while a check was under way: what it read of these users might be older than that. */
interface ToldMeanwhile {
  readonly users: Set<string>;
  ofEverybody: boolean;
}

/**
 * Looks sessions up that it does not know, and of those that it knows asks whether anything has changed since. It never
 * answers by what it remembers alone: each query says in one snapshot of the database whose sessions are not what they
 * were, and which of the unknown ones hold.
 *
 * Why nothing is missed: a change that a read did not see yet is told by the first query that comes back having seen
 * it, since the snapshot which that one goes on from has not. By then what was read is in memory, where it is forgotten,
 * or still under way, where it is told and not remembered. And whatever was committed before a check was asked for has
 * been told when its answer is made, at the latest by the query that was sent for it.
 */
function createRememberingChecks(database: Database): LookUp<string, Session | undefined> {
  const known = createKnownSessions(mostSessions);
  /** No Set, for the reason that `batched` gives. */
  let underWay: readonly ToldMeanwhile[] = [];
  let seen: Seen | undefined;

  /** @param since what the query went on from */
  function follow({ snapshot, server, complete, changed }: Changes, since: Seen | undefined): void {
    if (server !== '' && since?.server === server && complete && changed.length < mostChanges) {
      for (const userId of changed) {
        known.forget(userId);
        for (const told of underWay) told.users.add(userId);
      }
    } else {
      known.forgetAll();
      for (const told of underWay) told.ofEverybody = true;
    }
    seen = { snapshot, server };
  }

  /**
   * One query for many tokens.
   * @param remembered what is known of each
   * @returns their sessions; `null` where what was known is not so any more
   */
  async function check(tokens: readonly Asked[], remembered: readonly (Session | undefined)[]) {
    const told: ToldMeanwhile = { users: new Set(), ofEverybody: false };
    const isNews = ({ user_id }: Session) => told.ofEverybody || told.users.has(user_id);
    const unknown = tokens.filter((_, index) => remembered[index] === undefined);
    const since = seen;
    underWay = [...underWay, told];
    try {
      const { changes, found } = await ask(database, unknown, since);
      // From here on nothing may come in between: what is told to others is told to these, until they are remembered.
      follow(changes, since);
      for (const [sha256, session] of found) if (!isNews(session)) known.remember(sha256, session);
      return tokens.map((token, index) => {
        const session = remembered[index];
        if (session === undefined) return found.get(token.sha256);
        if (isNews(session)) return null;
        if (isInTime(session, changes.now)) return session;
        // Its row is as it was, and refused too: nobody has to look.
        known.forgetOne(token.sha256, session);
        return undefined;
      });
    } finally {
      underWay = underWay.filter((other) => other !== told);
    }
  }

  const lookUp = batched(async (tokens: readonly Asked[]) => {
    const remembered = tokens.map(({ sha256 }) => known.find(sha256));
    const answers = await check(tokens, remembered);
    const outdated = tokens.filter((_, index) => answers[index] === null);
    if (outdated.length === 0) return answers as (Session | undefined)[];
    const anew = await check(outdated, []);
    let next = 0;
    return answers.map((answer) => (answer === null ? anew[next++] : answer) ?? undefined);
  }, mostTokens);

  return (text) => {
    const sha256 = sha256Hex(text);
    // Who is remembered has been read before, and is no junk.
    if (known.find(sha256) !== undefined) return lookUp({ text, sha256 });
    const token = parseToken('session', text);
    return token === undefined ? Promise.resolve(undefined) : lookUp({ text, sha256, token });
  };
}

/** A token string that is well formed. */
interface Asked {
  readonly text: string;
  readonly sha256: string;
  /** What it says, where nothing was remembered of it. */
  readonly token?: ParsedToken;
}

/** What changed since then, and the sessions of those of the tokens that hold. */
async function ask(database: Database, asked: readonly Asked[], since: Seen | undefined) {
  const snapshot = since?.snapshot ?? null;
  const tokens = asked.flatMap(({ text, token = parseToken('session', text) }) => token ?? []);
  const query =
    tokens.length === 0
      ? database.query<ToldRow>(findChanges, [snapshot])
      : database.query<ToldRow | FoundRow>(findChangesAndSessions, [
          snapshot,
          arrayText(tokens.map(({ ids: [userId] }) => userId)),
          arrayText(tokens.map(({ ids: [, id] }) => id)),
          arrayText(tokens.map(({ sha256 }) => byteaText(sha256))),
        ]);
  let changes: Changes | undefined;
  const found = new Map<string, Session>();
  for (const row of await query) {
    if (row.told !== null) {
      changes = changesOf(row.told);
      continue;
    }
    const token = tokens[row.place - 1];
    if (token !== undefined) found.set(token.sha256, sessionOf(token, row));
  }
  if (changes === undefined) throw new Error('every answer has a row of changes');
  return { changes, found };
}

function sessionOf({ ids: [user_id = '', id = ''] }: ParsedToken, row: SessionRow): Session {
  const { device_id, created_at, expires_at } = row;
  return { id, user_id, device_id, created_at, expires_at, updated_at: created_at };
}

/** Up to where changes were told: a snapshot of the database, and of which run of which server. */
interface Seen {
  readonly snapshot: string;
  /** Empty after a crash and after some restores, until the chore runs next. */
  readonly server: string;
}

interface Changes extends Seen {
  readonly now: Instant;
  readonly complete: boolean;
  /** Ids of users. */
  readonly changed: readonly string[];
}

interface ToldRow {
  readonly told: readonly string[];
}

type SessionRow = Pick<Session, 'device_id' | 'created_at' | 'expires_at'>;

interface FoundRow extends SessionRow {
  readonly told: null;
  readonly place: number;
}
