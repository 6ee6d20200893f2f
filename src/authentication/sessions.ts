import type { NewSession, Session } from '../contract/session.js';
import { arrayText, byteaText } from '../database/array-text.js';
import { type Database, prepared } from '../database/database.js';
import { together } from '../database/together.js';
import { newId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import { newToken, type ParsedToken } from '../lib/token-strings.js';
import { lockHolds } from './accounts.js';
import { createSessionChecks, sessionsThatHold } from './session-checks.js';

/** Session tokens: short, made with an authentication token, good for everything else. */
export interface Sessions {
  /**
   * @throws Problem `invalid_authentication_token`, `account_locked` (an operator's lock), `account_unusable` (deactivated).
   */
  create(token: ParsedToken): Promise<NewSession>;
  /**
   * @param token as it came, whatever it is
   * @throws Problem `invalid_session_token`
   */
  verify(token: string): Promise<Session>;
}

interface SessionRow {
  id: string;
  user_id: string;
  device_id: string;
  created_at: string;
  expires_at: string;
}

/**
 * One round trip. `held` is the token as the caller holds it, `fit` the same when it may be used.
 *
 * The first use ends the older tokens of the user's device, and must not run past a re-issue of the token: so it
 * updates the row, and a session is made only from what that update returned (it re-checks the row it waited for).
 * A token in use is an older one even when a step of the clock made its time the later one: had it been newer, its use
 * would have ended this one.
 * Older tokens are locked newest first; a first use of any of them locks in the same order, so they cannot deadlock.
 * Later uses lock nothing: what is revoked meanwhile is caught by `verify`, which joins the same rows.
 */
const createSession = prepared(
  'session_create',
  `with held as materialized (
     select a.user_id, a.id, a.device_id, a.expires_at, a.first_used_at, a.epoch = u.epoch as current,
            u.status = 'active' as active, ${lockHolds} as locked
     from authentications a join users u on u.id = a.user_id
     where a.user_id = $1 and a.id = $2 and a.token_digest = $3
       and a.status = 'approved' and a.ended_at is null and a.expires_at > db_now()),
   fit as (select * from held where current and active and not locked),
   first_use as (
     update authentications a set first_used_at = coalesce(a.first_used_at, db_now())
     from fit
     where fit.first_used_at is null and a.user_id = fit.user_id and a.id = fit.id
       and a.token_digest = $3 and a.ended_at is null
     returning a.user_id, a.id, a.device_id, a.expires_at, a.approved_at),
   older as materialized (
     select o.user_id, o.id from authentications o join first_use f on o.user_id = f.user_id and o.device_id = f.device_id
     where o.status = 'approved' and o.ended_at is null
       and (o.first_used_at is not null and o.id <> f.id or (o.approved_at, o.id) < (f.approved_at, f.id))
     order by o.approved_at desc, o.id desc for no key update of o),
   superseded as (
     update authentications a set ended_at = db_now() from older where a.user_id = older.user_id and a.id = older.id),
   usable as (
     select user_id, id, device_id, expires_at from fit where first_used_at is not null
     union all
     select user_id, id, device_id, expires_at from first_use),
   session as (
     insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
     select user_id, $4, id, device_id, $5, n.now, least(n.now + $6 * interval '1 ms', expires_at)
     from usable cross join lateral (select db_now() as now) n
     returning id, user_id, device_id, created_at, expires_at)
   select held.current, held.active, held.locked, session.*
   from held left join session on true`,
);

/**
 * The same for many tokens at once, of which each is in use already: nothing is locked, so nothing is waited for. A token
 * that is not in the answer is used for the first time, or is refused: `createSession` says which.
 */
const createFurtherSessions = prepared(
  'session_create_many',
  `insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
   select asked.user_id, asked.id, held.id, held.device_id, asked.digest, held.now,
          least(held.now + $6 * interval '1 ms', held.expires_at)
   from unnest((select $1::uuid[]), (select $2::uuid[]), (select $3::bytea[]), (select $4::uuid[]), (select $5::bytea[]))
     asked (user_id, authentication_id, authentication_digest, id, digest)
   cross join lateral (
     select a.id, a.device_id, a.expires_at, db_now() as now
     from authentications a join users u on u.id = a.user_id
     where a.user_id = asked.user_id and a.id = asked.authentication_id and a.token_digest = asked.authentication_digest
       and a.status = 'approved' and a.ended_at is null and a.expires_at > db_now() and a.first_used_at is not null
       and a.epoch = u.epoch and u.status = 'active' and not ${lockHolds}
     limit 1) held
   returning id, user_id, device_id, created_at, expires_at`,
);

/**
 * SQL of a lateral subquery: `expires_at` of a session, if it holds, by the names of the columns that say which. For
 * what a session has begun and lasts, such as a stream: it asks again in its own query, under the rules of `verify`.
 */
export function heldSession(userId: string, sessionId: string): string {
  return `select s.expires_at from ${sessionsThatHold} and s.user_id = ${userId} and s.id = ${sessionId}`;
}

export interface SessionOptions {
  /** Milliseconds a session lives, never beyond its authentication token's end. */
  readonly lifetime: number;
  /** Whether what comes in together is answered by one query. */
  readonly batching: boolean;
}

export function createSessions(database: Database, { lifetime, batching }: SessionOptions): Sessions {
  const check = createSessionChecks(database, { batching });
  const alone = async ({ token, id, digest }: Requested) => {
    const [userId = '', authenticationId] = token.ids;
    const values = [userId, authenticationId, token.digest, id, digest, lifetime];
    const [row] = await database.lane(userId).query<HeldRow>(createSession, values);
    return row;
  };
  const createOne = batching
    ? together({ alone, many: (requests: readonly Requested[]) => createMany(database, requests, lifetime) })
    : alone;
  return {
    async create(held) {
      const id = newId();
      const { token, digest } = newToken('session', [held.ids[0] ?? '', id]);
      const row = await createOne({ token: held, id, digest });
      if (row === undefined) throw new Problem('invalid_authentication_token');
      if (!row.active) throw new Problem('account_unusable');
      if (!row.current) throw new Problem('invalid_authentication_token');
      if (row.locked) throw new Problem('account_locked');
      // Superseded, deleted or re-issued while this request waited for it.
      if (row.id === null) throw new Problem('invalid_authentication_token');
      return { ...toSession(row), token };
    },
    verify: (token) => check(token).then(demandSession),
  };
}

function demandSession(session: Session | undefined): Session {
  if (session === undefined) throw new Problem('invalid_session_token');
  return session;
}

async function createMany(
  database: Database,
  requests: readonly Requested[],
  lifetime: number,
): Promise<(HeldRow | undefined)[]> {
  const rows = await database.query<SessionRow>(createFurtherSessions, [
    arrayText(requests.map(({ token }) => token.ids[0])),
    arrayText(requests.map(({ token }) => token.ids[1])),
    arrayText(requests.map(({ token }) => byteaText(token.sha256))),
    arrayText(requests.map(({ id }) => id)),
    arrayText(requests.map(({ digest }) => byteaText(digest.toString('hex')))),
    lifetime,
  ]);
  const made = new Map(rows.map((row) => [row.id, { ...row, current: true, active: true, locked: false }]));
  return requests.map(({ id }) => made.get(id));
}

/** A session that is asked for: the token that it is to be made with, and the id and the digest that it gets. */
interface Requested {
  readonly token: ParsedToken;
  readonly id: string;
  readonly digest: Buffer;
}

type HeldRow = { current: boolean; active: boolean; locked: boolean } & ({ id: null } | SessionRow);

function toSession({ id, user_id, device_id, created_at, expires_at }: SessionRow): Session {
  return { id, user_id, device_id, created_at, expires_at, updated_at: created_at };
}
