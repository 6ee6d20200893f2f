import type { NewSession, Session } from '../contract/session.js';
import { arrayText, byteaText } from '../database/arrays/array-text.js';
import { createWriteCoalescer } from '../database/batching/write-coalescer.js';
import type { Database } from '../database/database.js';
import { type Sql, type SqlPart, sql, userStatement } from '../database/sql.js';
import { lockHolds } from '../identities/accounts.js';
import { newToken, type ParsedToken } from '../lib/crypto/token-strings.js';
import { newId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import type { Counters } from '../statistics/counters.js';
import { validSessions } from './verifier.js';

/** Creates session tokens: short-lived tokens that authorize all requests except logins. */
export interface Sessions {
  /**
   * @throws Problem `invalid_authentication_token`, `account_locked` (an operator's lock), `account_unusable` (deactivated)
   */
  create(token: ParsedToken): Promise<NewSession>;
}

interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly device_id: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/** The state of the authentication token, and the session if one was created. */
type CreatedRow = { readonly current: boolean; readonly active: boolean; readonly locked: boolean } & (
  | { readonly id: null }
  | SessionRow
);

interface CreateValues {
  readonly userId: string;
  readonly authenticationId: string;
  readonly authenticationDigest: Buffer;
  readonly id: string;
  readonly digest: Buffer;
  /** Milliseconds. */
  readonly lifetime: number;
}

/**
 * The first use of a token updates its row, and the update checks the row again, so it cannot race with a re-issue of the
 * token. It also ends the older tokens of the device, locked newest first, so that first uses cannot deadlock. A used
 * token counts as older even if the clock was set back: if it were newer, its first use would have ended this token.
 */
const createSession = userStatement<CreateValues, CreatedRow>(
  'session_create',
  (p) => sql`
  with token as materialized (
    select a.user_id, a.id, a.device_id, a.expires_at, a.first_used_at, a.epoch = u.epoch as current,
           u.status = 'active' as active, ${lockHolds} as locked
    from authentications a join users u on u.id = a.user_id
    where a.user_id = ${p.userId} and a.id = ${p.authenticationId} and a.token_digest = ${p.authenticationDigest}
      and a.status = 'approved' and a.ended_at is null and a.expires_at > db_now()),
  accepted as (select * from token where current and active and not locked),
  first_use as (
    update authentications a set first_used_at = coalesce(a.first_used_at, db_now())
    from accepted t
    where t.first_used_at is null and a.user_id = t.user_id and a.id = t.id
      and a.token_digest = ${p.authenticationDigest} and a.ended_at is null
    returning a.user_id, a.id, a.device_id, a.expires_at, a.approved_at),
  older as materialized (
    select o.user_id, o.id from authentications o join first_use f on o.user_id = f.user_id and o.device_id = f.device_id
    where o.status = 'approved' and o.ended_at is null
      and (o.first_used_at is not null and o.id <> f.id or (o.approved_at, o.id) < (f.approved_at, f.id))
    order by o.approved_at desc, o.id desc for no key update of o),
  superseded as (
    update authentications a set ended_at = db_now() from older where a.user_id = older.user_id and a.id = older.id),
  usable as (
    select user_id, id, device_id, expires_at from accepted where first_used_at is not null
    union all
    select user_id, id, device_id, expires_at from first_use),
  session as (
    insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
    select user_id, ${p.id}, id, device_id, ${p.digest}, n.now,
           least(n.now + ${p.lifetime} * interval '1 ms', expires_at)
    from usable cross join lateral (select db_now() as now) n
    returning id, user_id, device_id, created_at, expires_at)
  select token.current, token.active, token.locked, session.*
  from token left join session on true`,
);

/** Arrays as PostgreSQL's text, in one order. */
interface CreateManyValues {
  readonly userIds: string;
  readonly authenticationIds: string;
  readonly authenticationDigests: string;
  readonly ids: string;
  readonly digests: string;
  /** Milliseconds. */
  readonly lifetime: number;
}

/**
 * Creates sessions of many tokens that were used before. It locks nothing, so it waits for nothing. A token without a row in
 * the result is used for the first time or is refused: `createSession` decides.
 */
const createFurtherSessions = userStatement<CreateManyValues, SessionRow>(
  'session_create_many',
  (p) => sql`
  insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
  select requested.user_id, requested.id, token.id, token.device_id, requested.digest, token.now,
         least(token.now + ${p.lifetime} * interval '1 ms', token.expires_at)
  from unnest((select ${p.userIds}::uuid[]), (select ${p.authenticationIds}::uuid[]),
              (select ${p.authenticationDigests}::bytea[]), (select ${p.ids}::uuid[]), (select ${p.digests}::bytea[]))
    requested (user_id, authentication_id, authentication_digest, id, digest)
  cross join lateral (
    select a.id, a.device_id, a.expires_at, db_now() as now
    from authentications a join users u on u.id = a.user_id
    where a.user_id = requested.user_id and a.id = requested.authentication_id
      and a.token_digest = requested.authentication_digest and a.status = 'approved' and a.ended_at is null and a.expires_at > db_now() and a.first_used_at is not null
      and a.epoch = u.epoch and u.status = 'active' and not ${lockHolds}
    limit 1) token
  returning id, user_id, device_id, created_at, expires_at`,
);

/**
 * SQL of a lateral subquery: `expires_at` of a session if it is valid, by the rules of `SessionVerifier`. For long-lived
 * work, such as a stream, that checks its session again in its own query.
 */
export function validSession(userId: SqlPart, sessionId: SqlPart): Sql {
  return sql`select s.expires_at from ${validSessions} and s.user_id = ${userId} and s.id = ${sessionId}`;
}

export interface SessionOptions {
  /** Lifetime of a session in milliseconds. It never exceeds that of its authentication token. */
  readonly lifetime: number;
  /** Whether parallel requests share one statement. */
  readonly batching: boolean;
  readonly counters: Counters;
}

/** Creates session tokens. `batching` lets parallel requests share a statement. */
export function createSessions(database: Database, { lifetime, batching, counters }: SessionOptions): Sessions {
  const createAlone = async ({ token, id, digest }: RequestedSession) => {
    const [userId = '', authenticationId = ''] = token.ids;
    const values = { userId, authenticationId, authenticationDigest: token.digest, id, digest, lifetime };
    const [row] = await database.user(userId).query(createSession(values));
    return row;
  };
  const createOne = batching
    ? createWriteCoalescer({
        alone: createAlone,
        many: (requests: readonly RequestedSession[]) => createMany(database, requests, lifetime),
      })
    : createAlone;
  return {
    async create(authenticationToken) {
      const id = newId();
      const { token, digest } = newToken('session', [authenticationToken.ids[0] ?? '', id]);
      const row = await createOne({ token: authenticationToken, id, digest });
      if (row === undefined) throw new Problem('invalid_authentication_token');
      if (!row.active) throw new Problem('account_unusable');
      if (!row.current) throw new Problem('invalid_authentication_token');
      if (row.locked) throw new Problem('account_locked');
      // The token was superseded, deleted or re-issued while this request waited for it.
      if (row.id === null) throw new Problem('invalid_authentication_token');
      counters.add('sessions.created');
      return { ...toSession(row), token };
    },
  };
}

async function createMany(
  database: Database,
  requests: readonly RequestedSession[],
  lifetime: number,
): Promise<(CreatedRow | undefined)[]> {
  const rows = await database.users.query(
    createFurtherSessions({
      userIds: arrayText(requests.map(({ token }) => token.ids[0])),
      authenticationIds: arrayText(requests.map(({ token }) => token.ids[1])),
      authenticationDigests: arrayText(requests.map(({ token }) => byteaText(token.sha256))),
      ids: arrayText(requests.map(({ id }) => id)),
      digests: arrayText(requests.map(({ digest }) => byteaText(digest.toString('hex')))),
      lifetime,
    }),
  );
  const created = new Map(rows.map((row) => [row.id, { ...row, current: true, active: true, locked: false }]));
  return requests.map(({ id }) => created.get(id));
}

/** A session to create: its authentication token, and its own id and digest. */
interface RequestedSession {
  readonly token: ParsedToken;
  readonly id: string;
  readonly digest: Buffer;
}

function toSession({ id, user_id, device_id, created_at, expires_at }: SessionRow): Session {
  return { id, user_id, device_id, created_at, expires_at, updated_at: created_at };
}
