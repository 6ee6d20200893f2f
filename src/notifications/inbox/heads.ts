import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

const lockOne = statement<{ userId: string }, { user_id: string }>(
  'inboxes_lock',
  (p) => sql`select user_id from inboxes where user_id = ${p.userId} for update`,
);

/**
 * The head of an inbox is its row in `inboxes`, which numbers the changes of its notifications (decision 27). A change
 * *moves* the head: it raises the numbers and the time in the row. Heads are locked in the order of their users, so
 * that two transactions never wait for each other in a cycle.
 */
const lockUnlocked = statement<{ userIds: readonly string[] }, { user_id: string }>(
  'inboxes_lock_unlocked',
  (p) => sql`
    select user_id from inboxes where user_id = any (${p.userIds}::uuid[])
    order by user_id
    for update skip locked`,
);

/**
 * Locks the head of an inbox until commit. It is a separate statement, so that the next statement of the transaction sees
 * everything that was committed while this one waited.
 * @returns false when there is no head: the user is being deleted
 */
export async function lockHead(tx: Queryable, userId: string): Promise<boolean> {
  const heads = await tx.query(lockOne({ userId }));
  return heads.length > 0;
}

/**
 * Locks those heads of these users that no other transaction has locked.
 * @returns the users of the locked heads, in order
 */
export async function lockUnlockedHeads(tx: Queryable, userIds: readonly string[]): Promise<string[]> {
  const heads = await tx.query(lockUnlocked({ userIds: [...new Set(userIds)] }));
  return heads.map(({ user_id }) => user_id);
}
