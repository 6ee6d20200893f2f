import type { MaintenanceTask } from '../../database/maintenance/tasks.js';
import { literal, sql, statement } from '../../database/sql.js';
import { lockUnlockedInboxes } from '../inbox/inbox-locks.js';

/** The maximum number of tombstones that one step removes. */
const batch = 500;

const findOld = statement<Record<never, never>, { user_id: string; change_sequence: number }>(
  'tombstones_find',
  () => sql`
    select user_id, change_sequence from notification_tombstones
    where deleted_at < (select db_now()) - interval '30 days' order by deleted_at limit ${literal(batch)}`,
);

/**
 * Removes tombstones (records of deleted notifications) of inboxes whose inbox rows an earlier statement has locked.
 * Also removes tombstones of inboxes without an inbox row, which are being erased. Each inbox row stores the last
 * change whose tombstone was removed.
 */
const removeOld = statement<
  { userIds: readonly string[]; changeSequences: readonly number[]; lockedUserIds: readonly string[] },
  { removed: number }
>(
  'tombstones_remove',
  (p) => sql`
    with
    deleted as (
      delete from notification_tombstones t
      using unnest(${p.userIds}::uuid[], ${p.changeSequences}::bigint[]) as old (user_id, change_sequence)
      where t.user_id = old.user_id and t.change_sequence = old.change_sequence
        and (t.user_id = any (${p.lockedUserIds}::uuid[])
             or not exists (select from inboxes i where i.user_id = t.user_id))
      returning t.user_id, t.change_sequence
    ),
    inbox as (
      update inboxes
      set forgotten_change_sequence = greatest(forgotten_change_sequence, last.change_sequence)
      from (select user_id, max(change_sequence) as change_sequence from deleted group by user_id) last
      where inboxes.user_id = last.user_id
    )
    select 1 as removed from deleted`,
);

/**
 * Removes tombstones after 30 days. In the same transaction, the inbox row stores the last change whose tombstone was
 * removed: a client that last synchronised before this change must start again.
 */
export const tombstoneTask: MaintenanceTask = {
  name: 'notification tombstones',
  pauseMs: 3_600_000,
  async step(tx) {
    const old = await tx.query(findOld({}));
    if (old.length === 0) return { removed: 0 };
    const userIds = old.map((row) => row.user_id);
    const changeSequences = old.map((row) => row.change_sequence);
    const lockedUserIds = await lockUnlockedInboxes(tx, userIds);
    const removed = (await tx.query(removeOld({ userIds, changeSequences, lockedUserIds }))).length;
    // Tombstones of locked inboxes are left to the next run.
    return removed === 0 || old.length < batch ? { removed } : { removed, next: {} };
  },
};
