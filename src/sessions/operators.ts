import { type Scope, scopes } from '../contract/administration.js';
import type { roles } from '../contract/user-fields.js';
import { isNotAhead } from '../database/clock.js';
import type { Database, Queryable } from '../database/database.js';
import { type SqlPart, sql, statement } from '../database/sql.js';
import { newToken, type ParsedToken } from '../lib/crypto/token-strings.js';
import { newId } from '../lib/ids.js';
import { Problem } from '../lib/problem.js';
import { authenticatedAt } from '../limits/login-policies.js';
import type { MethodOfProof } from './amr.js';
import { endReplacedSessions, validSessions } from './verifier.js';

/** An operator, or a member of the support staff, who uses a session instead of an API key. */
export interface Operator {
  /** `user:<id>` */
  readonly name: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly scopes: readonly Scope[];
  /** Whether the login and the last re-authentication of this session are older than ADMIN_PROOF_MAX_AGE. */
  readonly isStale: boolean;
}

/**
 * Finds the administration scopes of a session's user, by the user's role. Returns undefined if the user has none, like
 * most users.
 * @throws Problem `invalid_session_token`; `role_not_active` until a second factor is enrolled through a link;
 *   `second_factor_required` if the login used one factor only
 */
export type VerifyOperator = (token: ParsedToken) => Promise<Operator | undefined>;

/** Support helps users. Only operators manage operators, keys and rules. */
const scopesOf: Readonly<Record<(typeof roles)[number], readonly Scope[]>> = {
  user: [],
  support: ['users:read', 'users:write', 'notifications:write'],
  operator: ['admin'],
};

/** All scopes of a role: `admin` includes every scope. None while the role is not active. */
export function capabilitiesOf(user: {
  readonly role: (typeof roles)[number];
  readonly role_active: boolean;
}): Scope[] {
  const granted = user.role_active ? scopesOf[user.role] : [];
  return granted.includes('admin') ? [...scopes] : [...granted];
}

interface OperatorRow {
  readonly role: (typeof roles)[number];
  readonly is_active: boolean;
  readonly used_second_factor: boolean;
  readonly is_fresh: boolean;
  /** Whether an operator uses the login instead of the user. */
  readonly is_support: boolean;
  readonly replaces: string | null;
}

/** SQL: whether a time is at most `maxAge` milliseconds ago. The age of a time ahead of the clock is unknown (decision 4). */
const isFresh = (time: SqlPart, maxAge: SqlPart) =>
  sql`(${time} >= db_now() - ${maxAge} * interval '1 ms' and ${isNotAhead(time)})`;

const findOperator = statement<{ userId: string; id: string; digest: Buffer; maxAge: number }, OperatorRow>(
  'session_operator',
  (p) => sql`
  select u.role, u.role_active_since is not null as is_active, a.second_factor is not null as used_second_factor,
         (${isFresh(authenticatedAt, p.maxAge)} or ${isFresh(sql`s.proven_at`, p.maxAge)}) is true as is_fresh,
         a.acting_operator is not null as is_support, s.replaces
  from ${validSessions} and s.user_id = ${p.userId} and s.id = ${p.id} and s.token_digest = ${p.digest}`,
);

/** @param maxAge milliseconds: ADMIN_PROOF_MAX_AGE */
export function createVerifyOperator(database: Database, maxAge: number): VerifyOperator {
  return async (token) => {
    const [userId = '', id = ''] = token.ids;
    const { digest } = token;
    const [row] = await database.user(userId).query(findOperator({ userId, id, digest, maxAge }));
    if (row === undefined) throw new Problem('invalid_session_token');
    if (row.replaces !== null) await endReplacedSessions(database.user(userId), [token]);
    const scopes = row.is_support ? [] : scopesOf[row.role];
    if (scopes.length === 0) return undefined;
    if (!row.is_active) throw new Problem('role_not_active');
    if (!row.used_second_factor) throw new Problem('second_factor_required');
    return { name: `user:${userId}`, userId, sessionId: id, scopes, isStale: !row.is_fresh };
  };
}

/** A re-authentication of a session, until when it is valid, and the token of the session that replaces the old one. */
export interface RecordedProof {
  readonly proven_at: string;
  readonly expires_at: string;
  readonly token: string;
}

interface ProofValues {
  readonly userId: string;
  readonly sessionId: string;
  readonly newId: string;
  readonly digest: Buffer;
  readonly maxAge: number;
  readonly method: MethodOfProof;
}

/**
 * A session that was stolen before the re-authentication must not have its rights. The client's requests that are on their way
 * still carry the old token, and the answer may be lost, so the old session lasts for another minute at most. It locks the login before
 * the session, as what ends a login does.
 */
const recordProof = statement<ProofValues, Omit<RecordedProof, 'token'>>(
  'session_prove',
  (p) => sql`
  with locked as materialized (
    select a.user_id, a.id from sessions s join authentications a on a.user_id = s.user_id and a.id = s.authentication_id
    where s.user_id = ${p.userId} and s.id = ${p.sessionId} for no key update of a),
  former as materialized (
    select s.*, db_now() as now from locked join sessions s on s.user_id = locked.user_id and s.authentication_id = locked.id
    where s.user_id = ${p.userId} and s.id = ${p.sessionId} for no key update of s),
  login as (
    update authentications a
    set proven_at = former.now,
        proven_by = case when ${p.method}::text = any(a.proven_by) then a.proven_by else a.proven_by || ${p.method}::text end
    from former where a.user_id = former.user_id and a.id = former.authentication_id),
  shortened as (
    update sessions s set proven_at = former.now, expires_at = least(s.expires_at, former.now + interval '60 seconds')
    from former where s.user_id = former.user_id and s.id = former.id)
  insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at, proven_at, replaces)
  select user_id, ${p.newId}, authentication_id, device_id, ${p.digest}, now, expires_at, now, id from former
  returning proven_at, least(proven_at + ${p.maxAge} * interval '1 ms', expires_at) as expires_at`,
);

/**
 * Records a re-authentication with the login, and in a new session, which replaces the old one: the old one ends when the new one is first used.
 * @param maxAge milliseconds: ADMIN_PROOF_MAX_AGE
 */
export async function recordSessionProof(
  tx: Queryable,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
  maxAge: number,
  method: MethodOfProof,
): Promise<RecordedProof> {
  const id = newId();
  const { token, digest } = newToken('session', [userId, id]);
  const [recorded] = await tx.query(recordProof({ userId, sessionId, newId: id, digest, maxAge, method }));
  if (recorded === undefined) throw new Problem('invalid_session_token');
  return { ...recorded, token };
}

const takeOverProof = statement<{ userId: string; sessionId: string }, Record<string, never>>(
  'session_take_over_proof',
  (p) => sql`
  update sessions s set proven_at = former.proven_at
  from (select max(o.proven_at) as proven_at from sessions o, sessions n
        where n.user_id = ${p.userId} and n.id = ${p.sessionId}
          and o.user_id = n.user_id and o.authentication_id = n.authentication_id) former
  where s.user_id = ${p.userId} and s.id = ${p.sessionId} and former.proven_at is not null`,
);

/**
 * Gives a new session the last re-authentication in an earlier session of the same login. For the console, whose page loses
 * its session token with each reload, but not its login. The re-authentication becomes no younger.
 */
export async function takeOverSessionProof(database: Database, { ids: [userId = '', sessionId = ''] }: ParsedToken) {
  await database.user(userId).query(takeOverProof({ userId, sessionId }));
}
