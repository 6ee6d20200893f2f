import { recordEvent } from '../audit/events.js';
import { endChallenges } from '../credentials/challenges.js';
import { endPendingPin } from '../credentials/pins/pending-pin.js';
import type { Database } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { Problem } from '../lib/problem.js';
import { loginEnd } from '../limits/login-policies.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { Notices } from '../messages/notices.js';
import { type CallingSession, lockCallingSession } from './proofs.js';

/**
 * Ends all logins of a user except the calling one, or all of them, and everything that could become a login: open logins,
 * self-service that waits for an answer, a pending PIN, and the link that activates a role.
 * @returns how many authentication tokens were valid until now
 * @throws Problem `invalid_session_token`, `too_many_requests`
 */
export type LogOutEverywhere = (callingSession: CallingSession, options: { readonly all: boolean }) => Promise<number>;

interface EndValues {
  readonly userId: string;
  readonly sessionId: string;
  readonly all: boolean;
}

/**
 * The new epoch also ends logins that are being approved at this moment: they began in the old one. The calling login moves to
 * the new epoch in the same statement, so no request sees it ended. The other logins end one by one too, because webhooks and
 * the status of a login must not report the calling one as ended. They are locked in the order of `session_create`.
 */
const endLogins = statement<EndValues, { ended: number }>(
  'user_log_out_everywhere',
  (p) => sql`
  with clock as materialized (select db_now() as now),
  kept as materialized (
    select s.authentication_id as id from sessions s
    where s.user_id = ${p.userId} and s.id = ${p.sessionId} and not ${p.all}::boolean),
  raised as (
    update users u set epoch = u.epoch + 1, role_link_digest = null, role_link_expires_at = null, updated_at = clock.now
    from clock where u.id = ${p.userId}
    returning u.id, u.epoch),
  login as materialized (
    select a.user_id, a.id, a.status from authentications a, clock
    where a.user_id = ${p.userId} and a.status in ('created', 'pending', 'approved') and a.ended_at is null
      and ${loginEnd} > clock.now
      and a.epoch = (select epoch from users where id = ${p.userId}) and a.id not in (select id from kept)
    order by a.approved_at desc nulls first, a.id desc for no key update of a),
  rejected as (
    update authentications a set status = 'rejected', error_code = 'authorization_rejected', updated_at = clock.now
    from login l, clock where a.user_id = l.user_id and a.id = l.id and l.status <> 'approved'),
  ended as (
    update authentications a set ended_at = clock.now, updated_at = clock.now
    from login l, clock where a.user_id = l.user_id and a.id = l.id and l.status = 'approved'
      and exists (select from kept)),
  moved as (
    update authentications a set epoch = raised.epoch
    from raised, kept where a.user_id = raised.id and a.id = kept.id and a.ended_at is null and a.epoch = raised.epoch - 1)
  select count(*) filter (where status = 'approved')::int as ended from login`,
);

/** Creates the logout on all devices that users ask for themselves. */
export function createLogOutEverywhere(options: {
  readonly database: Database;
  readonly limits: Pick<RequestLimits, 'countOwnChange'>;
  readonly notices: Pick<Notices, 'notify'>;
}): LogOutEverywhere {
  const { database, limits, notices } = options;
  return async (callingSession, { all }) => {
    const { userId, sessionId, origin } = callingSession;
    await limits.countOwnChange(userId);
    return database.user(userId).transaction(async (tx) => {
      await lockCallingSession(tx, callingSession);
      // A pending PIN that is due takes effect by itself, and ends the calling login too.
      if ((await endPendingPin(tx, userId, 'cancelled')) !== undefined) {
        await recordEvent(tx, { userId, type: 'pin_recovery.cancelled', origin, data: { reason: 'logged_out' } });
      }
      await endChallenges(tx, userId);
      const [row] = await tx.query(endLogins({ userId, sessionId, all }));
      if (row === undefined) throw new Problem('invalid_session_token');
      const type = all ? 'user.logged_out' : 'user.logged_out_elsewhere';
      await recordEvent(tx, { userId, type, origin, data: { ended: row.ended } });
      await notices.notify(tx, { userId, kind: 'logged_out', origin });
      return row.ended;
    });
  };
}
