import { recordEvent } from '../audit/events.js';
import type { MergedGuest } from '../contract/account/account.js';
import type { Database, Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { lockHolds } from '../identities/accounts.js';
import { parseToken } from '../lib/crypto/token-strings.js';
import { Problem } from '../lib/problem.js';
import { loginEnd } from '../limits/login-policies.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { Users } from '../users/users.js';
import { type CallingSession, lockCallingSession } from './proofs.js';

/** Moves what a guest has into the account with which the same person has logged in. */
export interface GuestMerge {
  /**
   * Moves the inbox of the guest into the caller's account and deletes the guest, in one transaction.
   * @param token the guest's authentication token
   * @throws Problem `guest_rejected`, `invalid_session_token`, `too_many_requests`
   */
  merge(callingSession: CallingSession, token: string): Promise<MergedGuest>;
}

const lockUsers = statement<{ userIds: readonly string[] }, { id: string }>(
  'guest_merge_lock',
  (p) => sql`select id from users where id = any(${p.userIds}::uuid[]) order by id for update`,
);

/**
 * A token that is bound to a key needs a caller whose login is bound to the same key: the same client. A support login is no login of
 * the guest: its operator would take the account over.
 */
const findGuest = statement<
  { userId: string; id: string; digest: Buffer; callerId: string; sessionId: string },
  { id: string }
>(
  'guest_merge_find',
  (p) => sql`
  select u.id from authentications a join users u on u.id = a.user_id
  where a.user_id = ${p.userId} and a.id = ${p.id} and a.token_digest = ${p.digest}
    and a.status = 'approved' and a.ended_at is null and a.acting_operator is null and a.epoch = u.epoch and ${loginEnd} > db_now()
    and u.is_guest and u.status = 'active' and not ${lockHolds}
    and (a.key_thumbprint is null or a.key_thumbprint = (
      select own.key_thumbprint from sessions s
      join authentications own on own.user_id = s.user_id and own.id = s.authentication_id
      where s.user_id = ${p.callerId} and s.id = ${p.sessionId}))`,
);

/** Creates the merge of guests. */
export function createGuestMerge({
  database,
  users,
  limits,
  moveInbox,
  onChanged,
}: {
  readonly database: Database;
  readonly users: Pick<Users, 'remove'>;
  readonly limits: Pick<RequestLimits, 'countLoginByAddress'>;
  readonly moveInbox: (tx: Queryable, from: string, to: string) => Promise<number>;
  /** Called after the commit, with the user whose inbox has changed. */
  readonly onChanged: (userIds: readonly string[]) => void;
}): GuestMerge {
  return {
    async merge(callingSession, text) {
      const { userId, sessionId, origin } = callingSession;
      await limits.countLoginByAddress(origin.clientAddress);
      const token = parseToken('authentication', text);
      const [guestId = '', id = ''] = token?.ids ?? [];
      if (token === undefined || guestId === userId) throw new Problem('guest_rejected');
      return database.user(userId).transaction(async (tx) => {
        // In the order of their ids, so that two guests who merge each other do not wait in a cycle.
        await tx.query(lockUsers({ userIds: [guestId, userId] }));
        await lockCallingSession(tx, callingSession);
        // A separate statement, so that it sees a merge that was committed while the first one waited for the locks.
        const [guest] = await tx.query(
          findGuest({ userId: guestId, id, digest: token.digest, callerId: userId, sessionId }),
        );
        if (guest === undefined) throw new Problem('guest_rejected');
        const moved = await moveInbox(tx, guestId, userId);
        await users.remove(tx, guestId, origin);
        await recordEvent(tx, { userId, type: 'guest.merged', origin, data: { guest_id: guestId } });
        tx.onCommit(() => onChanged([userId]));
        return { id: guestId, moved };
      });
    },
  };
}
