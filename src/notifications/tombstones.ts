import type { Chore } from '../database/chores.js';
import { prepared } from '../database/database.js';

const batch = 500;

const findOld = prepared(
  'tombstones_find',
  `select user_id, change_sequence from notification_tombstones
   where deleted_at < db_now() - interval '30 days' order by deleted_at limit ${batch}`,
);
const lockHeads = prepared(
  'tombstones_lock_heads',
  'select user_id from inboxes where user_id = any ($1::uuid[]) order by user_id for update skip locked',
);
/** Who has no head is being erased: there is nobody left to tell. */
const removeOld = prepared(
  'tombstones_remove',
  `with
    gone as (
      delete from notification_tombstones t
      using unnest($1::uuid[], $2::bigint[]) as old (user_id, change_sequence)
      where t.user_id = old.user_id and t.change_sequence = old.change_sequence
        and (t.user_id = any ($3::uuid[]) or not exists (select from inboxes i where i.user_id = t.user_id))
      returning t.user_id, t.change_sequence
    ),
    forgotten as (
      update inboxes
      set forgotten_change_sequence = greatest(forgotten_change_sequence, last.change_sequence)
      from (select user_id, max(change_sequence) as change_sequence from gone group by user_id) last
      where inboxes.user_id = last.user_id
    )
  select 1 from gone`,
);

/**
 * Forgets that notifications were deleted, 30 days later. The head says up to where, in the same transaction: who last
 * synchronised before that is told to start anew.
 */
export const tombstoneChore: Chore = {
  name: 'notification tombstones',
  rest: 3_600_000,
  async step(tx) {
    const old = await tx.query<{ user_id: string; change_sequence: number }>(findOld);
    if (old.length === 0) return { removed: 0 };
    const users = old.map((row) => row.user_id);
    const locked = await tx.query<{ user_id: string }>(lockHeads, [[...new Set(users)]]);
    const values = [users, old.map((row) => row.change_sequence), locked.map((row) => row.user_id)];
    const removed = (await tx.query(removeOld, values)).length;
    // Those of inboxes that are locked are left to the next time.
    return removed === 0 || old.length < batch ? { removed } : { removed, next: {} };
  },
};
