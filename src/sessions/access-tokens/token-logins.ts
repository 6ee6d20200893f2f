import { setTimeout as wait } from 'node:timers/promises';
import type { AccessTokenRequest } from '../../contract/access-token.js';
import type { Session } from '../../contract/session.js';
import { arrayText } from '../../database/array-text.js';
import { createBatchLoader } from '../../database/batching/batch-loader.js';
import type { Handle } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { Problem } from '../../lib/problem.js';
import { secondsOf } from '../../lib/times.js';
import { loginEnd } from '../../limits/login-policies.js';
import type { SnapshotVerifier } from '../fast-path/snapshot-verifier.js';
import { stampRevocationsOf } from '../revocations/feed.js';
import { validSessions } from '../verifier.js';
import { stateTag, type TokenStates } from './token-states.js';

/** The login of a session, as a token states it. */
export interface LoginRow {
  readonly place: number;
  readonly tag: string;
  /** The id of the login. */
  readonly sid: string;
  /** Where the browser came back to after a login by redirect. Null for other logins. */
  readonly app: string | null;
  /** Seconds since 1970. */
  readonly now: number;
  readonly ends_at: number;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  /** The time of the last revocation of this login, or of all logins of the user. Null: never. Seconds since 1970. */
  readonly told_at: number | null;
  /** Whether such a revocation has no time yet. */
  readonly has_untold: boolean;
}

/**
 * The logins of many sessions, and in the same snapshot the tag of keys and audiences, the roles and claims, and the revocations. The
 * time is not later than the snapshot. So a token that was issued without knowledge of a revocation is not newer than its `told_at`.
 */
const findLogins = statement<{ userIds: string; ids: string }, LoginRow>(
  'access_token_logins',
  (p) => sql`
  select requested.place::int as place, state.tag, found.*, told.*
  from (select ${stateTag} as tag) state
  cross join unnest((select ${p.userIds}::uuid[]), (select ${p.ids}::uuid[])) with ordinality requested (user_id, id, place)
  cross join lateral (
    select a.id as sid, (a.challenge ->> 'redirect')::jsonb ->> 'to' as app,
           extract(epoch from db_transaction_time())::float8 as now, extract(epoch from ${loginEnd})::float8 as ends_at,
           u.roles, u.claims
    from ${validSessions} and s.user_id = requested.user_id and s.id = requested.id limit 1) found
  cross join lateral (
    select extract(epoch from max(r.told_at))::float8 as told_at, coalesce(bool_or(r.told_at is null), false) as has_untold
    from revocations r where r.user_id = requested.user_id and (r.sid is null or r.sid = found.sid)) told`,
);

/**
 * Finds the login of a session for its next token.
 *
 * @throws Problem `invalid_session_token`
 */
export type FindLogin = (session: Session, request: AccessTokenRequest) => Promise<LoginRow>;

/** @param confirmedAt see `SnapshotVerifier`. Undefined: sessions are not checked by this verifier */
export function createLoginFinder(options: {
  readonly database: Handle;
  readonly states: TokenStates;
  readonly confirmedAt: SnapshotVerifier['confirmedAt'];
}): FindLogin {
  const { database, states, confirmedAt } = options;
  /** The logins of sessions that had a token, as they were then. */
  const known = new WeakMap<Session, LoginRow>();
  /** The last tag of `known`. */
  let tag = '';

  const loginOf = createBatchLoader(async (sessions: readonly Session[]) => {
    const rows = await database.query(
      findLogins({
        userIds: arrayText(sessions.map(({ user_id }) => user_id)),
        ids: arrayText(sessions.map(({ id }) => id)),
      }),
    );
    const byPlace = new Map(rows.map((row) => [row.place, row]));
    return sessions.map((_, index) => byPlace.get(index + 1));
  });

  /**
   * The login of a session, in a second after that of every revocation that its next token could be taken for. A token of the same second
   * would be refused.
   * @throws Problem `invalid_session_token`
   */
  async function loginAfterRevocations(session: Session): Promise<LoginRow> {
    for (let attempt = 1; ; attempt += 1) {
      const login = await loginOf(session);
      if (login === undefined) throw new Problem('invalid_session_token');
      const next = Math.floor(login.told_at ?? 0) + 1;
      // After a step back of the clock, the second may be far: then services that read the feed refuse the token.
      if (!login.has_untold && login.now >= next) {
        // Its session has the roles and claims. The tag is long, so all logins share one.
        if (tag !== login.tag) tag = login.tag;
        known.set(session, { ...login, tag, roles: [], claims: {} });
        return login;
      }
      if (attempt > 3) return login;
      if (login.has_untold) await stampRevocationsOf(database, session.user_id);
      else await wait(Math.min(next - login.now, 1) * 1000 + 1);
    }
  }

  /**
   * The login of a session that had a token before, without a look-up. The same object means that the verifier has seen no change of
   * the session, its login or its user since, and each revocation comes with such a change. The token has the time at which the
   * verifier has seen that, so it is not newer than a later revocation. Undefined: the login must be looked up, also because
   * the token could last longer than the session, and so perhaps than the login.
   */
  async function unchangedLogin(session: Session, request: AccessTokenRequest): Promise<LoginRow | undefined> {
    const [login, confirmed] = [known.get(session), confirmedAt(session)];
    if (login === undefined || confirmed === undefined) return undefined;
    const [now, end] = [secondsOf(confirmed), secondsOf(session.expires_at)];
    // The clock of the database was set back, or the check began before that look-up.
    if (now < login.now || (await states.readTag()) !== login.tag) return undefined;
    const ttl = request.ttl ?? (await states.stateOf(login.tag)).audiences.get(request.audience)?.ttl ?? 0;
    return now + ttl > Math.min(end, login.ends_at)
      ? undefined
      : { ...login, now, ends_at: end, roles: session.roles, claims: session.claims };
  }

  return async (session, request) => (await unchangedLogin(session, request)) ?? loginAfterRevocations(session);
}
