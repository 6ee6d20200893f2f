import type { MaintenanceTask } from '../../database/maintenance/tasks.js';
import { compose, literal, sql } from '../../database/sql.js';

/** The maximum number of rows that a step deletes. */
const maxDeleted = 1000;
const deleteLimit = literal(maxDeleted);

/**
 * Raises the floor, the number of a transaction below which changes may be deleted. It becomes the number that the last
 * run of this task read, so that every change stays for at least one `pauseMs`.
 */
const raiseFloor = compose<object>(
  sql`
  insert into session_changes_floor as f (floor, next_floor)
  select now.xmin, now.xmin from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) now
  on conflict (only_one) do update set floor = least(f.next_floor, excluded.next_floor), next_floor = excluded.next_floor`,
);
/**
 * Skips rows that another transaction has locked. A transaction number that this server has not assigned yet belongs to
 * another server, from which the tables were copied.
 */
const deleteBelowFloor = compose<{ deleted: number }>(
  sql`
  delete from session_changes where (xid, user_id) in (
    select xid, user_id from session_changes
    where xid < (select floor from session_changes_floor) or xid >= pg_snapshot_xmax(pg_current_snapshot())
    limit ${deleteLimit} for update skip locked)
  returning 1 as deleted`,
);

/**
 * Deletes the rows of `session_changes` that every running instance has read. An instance that verified no session for longer
 * than `pauseMs` finds the floor above its last snapshot, and clears its cache.
 */
export const sessionChangesTask: MaintenanceTask = {
  name: 'expire session_changes',
  pauseMs: 60_000,
  async step(tx, from) {
    if (from === undefined) await tx.query(raiseFloor);
    const removed = (await tx.query(deleteBelowFloor)).length;
    return removed < maxDeleted ? { removed } : { removed, next: {} };
  },
};
