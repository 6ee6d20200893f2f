import type { MaintenanceTask } from '../database/maintenance/tasks.js';
import { compose, literal, sql } from '../database/sql.js';
import { removalPauseSeconds, retentionSeconds } from './statistics.js';

/** The maximum number of rows that a step removes. */
const batchSize = 1000;

const removeOld = compose(
  sql`delete from statistics where (resolution, starts_at, metric, label) in (
        (select resolution, starts_at, metric, label from statistics
         where resolution = 'minute' and starts_at < (select db_now()) - ${literal(retentionSeconds.minute)} * interval '1 second'
         order by starts_at
         limit ${literal(batchSize)})
        union all
        (select resolution, starts_at, metric, label from statistics
         where resolution = 'hour' and starts_at < (select db_now()) - ${literal(retentionSeconds.hour)} * interval '1 second'
         order by starts_at
         limit ${literal(batchSize)}))
      returning 1 as removed`,
);

/** Instances that were killed stay in the list for a day. */
const removeLost = compose(
  sql`delete from instances where seen_at < db_now() - interval '1 day' returning 1 as removed`,
);

/** The size of the database in this hour and on this day. Reading it takes a few milliseconds, too long for each flush. */
const recordSize = compose(
  sql`insert into statistics as existing (resolution, starts_at, metric, label, value)
      select resolution, date_trunc(resolution, db_now(), 'UTC'), 'database.size', '',
             pg_database_size(current_database())
      from unnest(array['hour', 'day']) resolution
      on conflict (resolution, starts_at, metric, label) do update set value = greatest(existing.value, excluded.value)`,
);

/** Removes sums by minute after 2 days and sums by hour after 90 days. Sums by day stay. Records the size of the database. */
export const statisticsTask: MaintenanceTask = {
  name: 'expire statistics',
  pauseMs: removalPauseSeconds * 1000,
  async step(tx) {
    await tx.query(recordSize);
    const old = (await tx.query(removeOld)).length;
    const lost = (await tx.query(removeLost)).length;
    return { removed: old + lost, ...(old >= batchSize && { next: {} }) };
  },
};
