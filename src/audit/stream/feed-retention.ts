import type { MaintenanceTask } from '../../database/maintenance/tasks.js';
import { compose, literal, sql } from '../../database/sql.js';

/** Maximum number of rows that a step deletes. */
const maxDeleted = 2000;
const deleteLimit = literal(maxDeleted);

/**
 * Raises the floor (the first transaction whose rows stay) to the value of the previous execution, so that a row stays
 * for at least one pause of the task. Does not change a state that another server wrote: it stays invalid, and the next
 * stream starts a new run.
 */
const raiseFloor = compose<object>(
  sql`
  update event_feed_state s
  set floor = s.next_floor, next_floor = pg_snapshot_xmin(pg_current_snapshot()), written_by = pg_current_xact_id()
  where xmin = written_by::xid`,
);
/**
 * Deletes the rows below the floor. Deletes all if the state is missing (after a crash) or invalid (after a restore): no
 * stream can read them.
 */
const deleteReadRows = compose<{ deleted: number }>(
  sql`
  delete from event_feed where (transaction, created_at, id) in (
    select transaction, created_at, id from event_feed
    where transaction < coalesce((select floor from event_feed_state where xmin = written_by::xid),
                                 pg_snapshot_xmin(pg_current_snapshot()))
       or transaction >= pg_snapshot_xmax(pg_current_snapshot())
    limit ${deleteLimit} for update skip locked)
  returning 1 as deleted`,
);

/** Deletes the rows of `event_feed` that streams have read. A client that resumes later must list the events again. */
export const eventFeedTask: MaintenanceTask = {
  name: 'expire event_feed',
  pauseMs: 150_000,
  async step(tx, from) {
    if (from === undefined) await tx.query(raiseFloor);
    const removedCount = (await tx.query(deleteReadRows)).length;
    return removedCount < maxDeleted ? { removed: removedCount } : { removed: removedCount, next: {} };
  },
};
