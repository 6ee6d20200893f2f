import type { Session } from '../contract/session.js';
import { arrayText } from '../database/array-text.js';
import { isNotAhead } from '../database/clock.js';
import type { Database, Queryable } from '../database/database.js';
import { literal, type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import { lockHolds } from '../identities/accounts.js';
import { type ParsedToken, parseToken } from '../lib/crypto/token-strings.js';
import { Problem } from '../lib/problem.js';
import { maxSessionDays } from '../lib/times.js';
import { authenticatedAt } from '../limits/login-policies.js';
import { amrOf, type LoginMethods } from './amr.js';

/** Checks session tokens. */
export interface SessionVerifier {
  /**
   * Checks whether the session of a token is valid. Each call reads the database; no older answer is used.
   * @param token any string
   * @throws Problem `invalid_session_token`
   */
  verify(token: string): Promise<Session>;
}

const maxLifetime = sql`${literal(maxSessionDays)} * interval '1 day'`;

/**
 * SQL: whether the times of a session `s` are valid. A session that was created while the clock was ahead would last longer
 * than its lifetime (decision 4). For cached sessions, `isWithinTime` checks the same.
 */
const sessionIsInTime = sql`s.expires_at > db_now() and ${isNotAhead(sql`s.created_at`)}
     and s.expires_at <= s.created_at + ${maxLifetime}`;

/** SQL: the sessions that are valid now. Every revocation makes this join or one of these conditions fail. */
export const validSessions = sql`sessions s
   join authentications a on a.user_id = s.user_id and a.id = s.authentication_id
   join users u on u.id = s.user_id
   where ${sessionIsInTime} and a.status = 'approved' and a.ended_at is null and a.epoch = u.epoch
     and u.status = 'active' and not ${lockHolds}`;

/** The columns of a session that its token does not contain. */
export interface SessionRow extends Omit<Session, 'id' | 'user_id' | 'updated_at' | 'amr' | 'act'>, LoginMethods {
  /** The operator who uses the login instead of the user. Null for most sessions. */
  readonly acting_operator: string | null;
  readonly acting_writes: boolean | null;
  /** See `endReplacedSessions`. Null for most sessions. */
  readonly replaces: string | null;
}

/** SQL: the `SessionRow` of a token if its session is valid. At most one row, found by three primary keys. */
export function sessionOfToken(token: {
  readonly userId: SqlPart;
  readonly id: SqlPart;
  readonly digest: SqlPart;
}): Sql {
  const { userId, id, digest } = token;
  return sql`select s.device_id, s.created_at, s.expires_at, s.replaces, u.roles, u.claims,
          ${authenticatedAt} as authenticated_at, a.proven_at, a.authenticator, a.second_factor, a.proven_by,
          a.acting_operator, a.acting_writes
   from ${validSessions} and s.user_id = ${userId} and s.id = ${id} and s.token_digest = ${digest}`;
}

const findSession = statement<{ userId: string; id: string; digest: Buffer }, SessionRow>('session_verify', (p) =>
  sessionOfToken({ userId: p.userId, id: p.id, digest: p.digest }),
);

const endReplaced = statement<{ userIds: string; ids: string }>(
  'session_end_replaced',
  (p) => sql`
  with fresh as materialized (
    select s.user_id, s.id, s.replaces
    from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[]) used (user_id, id)
    join sessions s on s.user_id = used.user_id and s.id = used.id
    where s.replaces is not null
    for no key update of s skip locked),
  ended as (
    delete from sessions s using fresh where s.user_id = fresh.user_id and s.id = fresh.replaces)
  update sessions s set replaces = null from fresh where s.user_id = fresh.user_id and s.id = fresh.id`,
);

/**
 * Ends the sessions that these sessions have replaced after a re-authentication. Call it at the first use of a session whose
 * `replaces` is not null, before the request is answered.
 */
export async function endReplacedSessions(handle: Queryable, tokens: readonly ParsedToken[]): Promise<void> {
  const [userIds, ids] = [0, 1].map((part) => arrayText(tokens.map((token) => token.ids[part])));
  await handle.query(endReplaced({ userIds: userIds ?? '', ids: ids ?? '' }));
}

/** Verifies each session by one query. `DATABASE_BATCHING` replaces it with the verifier of `fast-path/`. */
export function createPlainVerifier(database: Database): SessionVerifier {
  return {
    async verify(text) {
      const token = parseToken('session', text);
      if (token === undefined) throw new Problem('invalid_session_token');
      const [userId = '', id = ''] = token.ids;
      const [row] = await database.user(userId).query(findSession({ userId, id, digest: token.digest }));
      if (row === undefined) throw new Problem('invalid_session_token');
      if (row.replaces !== null) await endReplacedSessions(database.user(userId), [token]);
      return sessionOf(token, row);
    },
  };
}

export function sessionOf({ ids: [user_id = '', id = ''] }: ParsedToken, row: SessionRow): Session {
  const { device_id, created_at, expires_at, roles, claims, authenticated_at, proven_at, acting_operator: sub } = row;
  const act = sub === null ? undefined : { act: { sub, write: row.acting_writes === true } };
  const login = { authenticated_at, amr: amrOf(row), proven_at, ...act };
  return { id, user_id, device_id, created_at, expires_at, updated_at: created_at, roles, claims, ...login };
}
