import type { UserSession, UserToken } from '../contract/administration.js';
import { authenticationStatuses } from '../contract/authentication.js';
import type { Database } from '../database/database.js';
import { type ListRequest, type ListSource, type Page, readPage } from '../database/listing.js';
import { bound, sql } from '../database/sql.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { authenticatedAt, type LoginPolicies, loginEnd, loginTtl } from '../limits/login-policies.js';
import { validSessions } from '../sessions/verifier.js';

/** The logins and sessions of one user, for support. The lists of an unknown user are empty. */
export interface UserDetails {
  /** Recent logins, including those that got no token. The tokens are never shown. */
  tokens(userId: string, request: ListRequest): Promise<Page<UserToken>>;
  /** The sessions that are valid now. */
  sessions(userId: string, request: ListRequest): Promise<Page<UserSession>>;
}

/** SQL: the status of the authentication `a`. Its column `expires_at` is the end of the open authentication. An expired open authentication is shown as rejected; its row is unchanged. */
const status = sql`case when status in ('created', 'pending') and expires_at <= db_now() then 'rejected' else status end`;

/** The filter fields of lists of authentications. */
export const tokenFilterFields: FilterFields = {
  id: { kind: 'id' },
  device_id: { kind: 'id' },
  authenticator: { kind: 'key' },
  status: { kind: 'enum', values: authenticationStatuses },
  expires_at: { kind: 'time' },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};

/** The filter fields of lists of sessions. */
export const sessionFilterFields: FilterFields = {
  id: { kind: 'id' },
  authentication_id: { kind: 'id' },
  device_id: { kind: 'id' },
  expires_at: { kind: 'time' },
  created_at: { kind: 'time' },
};

/** A policy that was set since the login shortens it, so the stored end may be too late. */
const tokensOf = (userId: string, policies: LoginPolicies): ListSource => ({
  columns: sql`id, device_id, authenticator, ${status} as status,
            status = 'approved' and ended_at is null and ends_at > db_now() and is_current as active,
            key_thumbprint is not null as is_bound, first_used_at, ended_at, ends_at as expires_at, created_at, updated_at`,
  from: sql`(
    select a.*, least(${loginEnd}, ${authenticatedAt} + ${loginTtl(bound(policies))}) as ends_at,
           (u.epoch = a.epoch and u.status = 'active') is true as is_current
    from authentications a left join users u on u.id = a.user_id) a`,
  where: sql`user_id = ${bound(userId)}::uuid`,
  filterExpressions: { status: sql`(${status})`, expires_at: sql`ends_at` },
});

const sessionsOf = (userId: string): ListSource => ({
  columns: sql`id, authentication_id, device_id, expires_at, created_at`,
  from: sql`(select s.* from ${validSessions}) s`,
  where: sql`user_id = ${bound(userId)}::uuid`,
});

/** Creates the lists of a user's logins and sessions. */
export function createUserDetails(database: Database, policies: LoginPolicies): UserDetails {
  return {
    tokens: (userId, request) => readPage<UserToken>(database.user(userId), tokensOf(userId, policies), request),
    sessions: (userId, request) => readPage<UserSession>(database.user(userId), sessionsOf(userId), request),
  };
}
