import type { UserSession, UserToken } from '../../contract/administration.js';
import { authenticationStatuses } from '../../contract/authentication.js';
import type { Database } from '../../database/database.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { lockHolds } from '../accounts.js';
import { type ListRequest, type Page, readPage } from '../listing.js';
import { sessionIsInTime } from '../session-checks.js';

/** What belongs to one user, for support to look at. The lists of an unknown user are empty. */
export interface UserDetails {
  /** Every login of the last while, also those that never became a token. Never the token. */
  tokens(userId: string, request: ListRequest): Promise<Page<UserToken>>;
  /** The sessions that are good right now. */
  sessions(userId: string, request: ListRequest): Promise<Page<UserSession>>;
}

/** An authentication that nobody decided in time is rejected from then on: nobody writes that down, it is read so. */
const status = `case when status in ('created', 'pending') and expires_at <= db_now() then 'rejected' else status end`;

/** What authentications can be listed by. */
export const tokenFilterFields: FilterFields = {
  id: { kind: 'id' },
  device_id: { kind: 'id' },
  authenticator: { kind: 'key' },
  status: { kind: 'enum', values: authenticationStatuses, column: `(${status})` },
  expires_at: { kind: 'time' },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};

/** What sessions can be listed by. */
export const sessionFilterFields: FilterFields = {
  id: { kind: 'id' },
  authentication_id: { kind: 'id' },
  device_id: { kind: 'id' },
  expires_at: { kind: 'time' },
  created_at: { kind: 'time' },
};

const tokens = {
  columns: `id, device_id, authenticator, ${status} as status,
            status = 'approved' and ended_at is null and expires_at > db_now() and exists (
              select 1 from users u where u.id = a.user_id and u.epoch = a.epoch and u.status = 'active') as active,
            first_used_at, ended_at, expires_at, created_at, updated_at`,
  from: 'authentications a',
  where: 'user_id = $1',
};

const sessions = {
  columns: 'id, authentication_id, device_id, expires_at, created_at',
  from: 'sessions s',
  // What `sessions.verify` asks of a session.
  where: `user_id = $1 and ${sessionIsInTime} and exists (
            select 1 from authentications a join users u on u.id = a.user_id
            where a.user_id = s.user_id and a.id = s.authentication_id and a.status = 'approved' and a.ended_at is null
              and a.epoch = u.epoch and u.status = 'active' and not ${lockHolds})`,
};

export function createUserDetails(database: Database): UserDetails {
  return {
    tokens: (userId, request) => readPage<UserToken>(database, { ...tokens, values: [userId] }, request),
    sessions: (userId, request) => readPage<UserSession>(database, { ...sessions, values: [userId] }, request),
  };
}
