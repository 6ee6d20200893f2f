import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

const lockOne = statement<{ userId: string }, { user_id: string }>(
  'inboxes_lock',
  (p) => sql`select user_id from inboxes where user_id = ${p.userId} for update`,
);

/**
 * The inbox row of a user is the row in `inboxes`, which numbers the changes of the notifications (decision 27). A change
 * advances the row: it raises the numbers and the time. The rows are locked in the order of their users, so that two
 * transactions never wait for each other in a cycle.
 */
const lockUnlocked = statement<{ userIds: readonly string[] }, { user_id: string }>(
  'inboxes_lock_unlocked',
  (p) => sql`
    select user_id from inboxes where user_id = any (${p.userIds}::uuid[])
    order by user_id
    for update skip locked`,
);

/**
 * Locks an inbox row until commit. It is a separate statement, so that the next statement of the transaction sees
 * everything that was committed while this one waited.
 * @returns false when there is no row: the user is being deleted
 */
export async function lockInbox(tx: Queryable, userId: string): Promise<boolean> {
  const rows = await tx.query(lockOne({ userId }));
  return rows.length > 0;
}

/**
 * Locks those inbox rows of these users that no other transaction has locked.
 * @returns the users of the locked rows, in order
 */
export async function lockUnlockedInboxes(tx: Queryable, userIds: readonly string[]): Promise<string[]> {
  const rows = await tx.query(lockUnlocked({ userIds: [...new Set(userIds)] }));
  return rows.map(({ user_id }) => user_id);
}
