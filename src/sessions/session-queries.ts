import { literal, type Parameters, type Sql, sql, statement } from '../database/sql.js';
import { hasMoreDevices } from '../devices/device-limit.js';
import { lockHolds } from '../identities/accounts.js';
import {
  authenticatedAt,
  type LoginPolicies,
  loginEnd,
  loginIdleTtl,
  loginTtl,
  useMovesEnd,
} from '../limits/login-policies.js';
import { type DpopProofState, dpopProofState, noDpopProofState } from './dpop/dpop-proof-queries.js';
import type { DpopProofValues } from './dpop/presented-dpop-proof.js';

/** The statements that create the session of one token. */

export interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly device_id: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/** The state of the authentication token, and the session if one was created. */
export type CreatedRow = DpopProofState & {
  /** Whether the DPoP proof is valid and was not used before. */
  readonly is_proven: boolean;
  /**
   * Whether two clients use the token alternately: the calling client used it before, and another client, in
   * `client_network`, used it last.
   */
  readonly is_shared: boolean | null;
  readonly client_network: string | null;
  /** Whether no change of the user has revoked the token. */
  readonly current: boolean;
  /** Whether this is the first session of the login, and the user has more devices than allowed. */
  readonly has_more_devices: boolean | null;
  /** Whether the user is not deactivated. */
  readonly active: boolean;
  /** Whether an operator has locked the account. */
  readonly locked: boolean;
} & ({ readonly id: null } | SessionRow);

export interface CreateValues {
  readonly userId: string;
  readonly authenticationId: string;
  readonly authenticationDigest: Buffer;
  readonly id: string;
  readonly digest: Buffer;
  /** Milliseconds. */
  readonly lifetime: number;
  readonly agent: string;
  readonly network: string;
  readonly policies: LoginPolicies;
}

/**
 * SQL: whether this client used the token before, and the last request came from another User-Agent in another network. A
 * phone that changes its network keeps its User-Agent, and an app that was updated does not return to its former
 * User-Agent (decision 14).
 */
const isShared = (p: Parameters<CreateValues>): Sql => sql`
  not token.is_support and token.former_agent = ${p.agent}::bigint and token.client_agent <> ${p.agent}::bigint
    and token.client_network <> ${p.network}::text`;

/**
 * SQL: the end of the login `a` whose token `t` is used. If a new role has shortened the login since the token was read, the
 * shorter end stays.
 */
const endOfUsedLogin = sql`expires_at = least(a.expires_at, t.expires_at),
        idle_expires_at = case when a.idle_expires_at is not distinct from t.idle_expires_at then t.next_idle_expires_at
                               else a.idle_expires_at end`;

/**
 * SQL: the CTE `moved`, which stores the client of this request with the token of the CTE `accepted`, and the new end of the
 * login. It changes no row if the client is the same as before and the end moves little.
 */
const recordClient = (p: Parameters<CreateValues>): Sql => sql`
  moved as (
    update authentications a
    set client_agent = ${p.agent}, client_network = ${p.network},
        former_agent = case when a.client_agent <> ${p.agent}::bigint and a.client_network <> ${p.network}::text
                            then a.client_agent else a.former_agent end,
        ${endOfUsedLogin}
    from accepted t
    where t.first_used_at is not null
      and (t.moves_end or (t.client_agent, t.client_network) is distinct from (${p.agent}::bigint, ${p.network}::text))
      and a.user_id = t.user_id and a.id = t.id and a.ended_at is null)`;

/**
 * SQL: the CTE `token`, the token of the request.
 * @param dpopProof the columns of `DpopProofState`
 */
const tokenOfRequest = (p: Parameters<CreateValues>, dpopProof: Sql): Sql => sql`
  token as materialized (
    select a.user_id, a.id, a.device_id, least(a.expires_at, ${authenticatedAt} + ${loginTtl(p.policies)}) as expires_at,
           a.idle_expires_at, db_now() + ${loginIdleTtl(p.policies)} as next_idle_expires_at,
           ${useMovesEnd(p.policies)} as moves_end, a.first_used_at, a.epoch = u.epoch as current,
           u.status = 'active' as active, ${lockHolds} as locked, a.client_agent, a.client_network, a.former_agent,
           a.acting_operator is not null as is_support, ${dpopProof}
    from authentications a join users u on u.id = a.user_id
    where a.user_id = ${p.userId} and a.id = ${p.authenticationId} and a.token_digest = ${p.authenticationDigest}
      and a.status = 'approved' and a.ended_at is null
      and least(${loginEnd}, ${authenticatedAt} + ${loginTtl(p.policies)}) > db_now())`;

/**
 * SQL: the CTEs that create a session for the token in the CTE `accepted`, and the result. `accepted` has the row of
 * `token` if the token may be used.
 * @param isProven the column `is_proven`
 *
 * The first use of a token updates its row, and the update checks the row again, so it cannot race with a repeated
 * approval, which replaces the token. It also ends the older tokens of the device, locked newest first, so that first
 * uses cannot deadlock. A used token counts as older even if the clock was set back: if it were newer, its first use
 * would have ended this token.
 */
const sessionOfAccepted = (p: Parameters<CreateValues>, isProven: Sql): Sql => sql`
  first_use as (
    update authentications a set first_used_at = coalesce(a.first_used_at, db_now()), client_agent = ${p.agent},
      client_network = ${p.network}, ${endOfUsedLogin}
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
  select token.current, token.active, token.locked, token.key_thumbprint, token.key_fits, token.nonce_fits, token.time_fits,
         token.is_used, token.now, ${isProven} as is_proven, token.client_network,
         ${isShared(p)} as is_shared,
         case when exists (select from first_use) and not token.is_support then ${hasMoreDevices(p.userId, p.policies)} end as has_more_devices, session.*
  from token left join session on true`;

/** The number of sessions that are stored for one login. */
const maxSessions = 10_000;

/** Deletes the oldest sessions of a login beyond `maxSessions`. The limit is far more than an app needs. */
export const deleteOldestSessions = statement<{ userId: string; authenticationId: string }>(
  'session_delete_oldest',
  (p) => sql`
  delete from sessions s
  where s.user_id = ${p.userId} and s.id in (
    select id from sessions where user_id = ${p.userId} and authentication_id = ${p.authenticationId}
    order by created_at desc, id desc offset ${literal(maxSessions)})`,
);

/** Creates a session of a token that is not bound to a key, in one round trip. */
export const createSession = statement<CreateValues, CreatedRow>(
  'session_create',
  (p) => sql`
  with ${tokenOfRequest(p, noDpopProofState)},
  accepted as (select * from token where current and active and not locked and key_thumbprint is null),
  ${recordClient(p)},
  ${sessionOfAccepted(p, sql`false`)}`,
);

/**
 * Creates a session of a token that is bound to a key, if the DPoP proof is valid, in one round trip. The insert of the
 * DPoP proof lets one of several parallel requests with the same DPoP proof continue, on any instance.
 */
export const createBoundSession = statement<CreateValues & DpopProofValues, CreatedRow>(
  'session_create_bound',
  (p) => sql`
  with ${tokenOfRequest(p, dpopProofState(p))},
  dpop_proof as (
    insert into used_dpop_proofs (user_id, digest, used_at)
    select token.user_id, ${p.dpopDigest}, db_now() from token
    where current and active and not locked and key_fits and nonce_fits and time_fits
    on conflict do nothing
    returning user_id),
  accepted as (select token.* from token join dpop_proof on dpop_proof.user_id = token.user_id),
  ${sessionOfAccepted(p, sql`exists (select from dpop_proof)`)}`,
);
