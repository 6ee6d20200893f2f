import type { MaintenanceTask } from '../../database/maintenance/tasks.js';
import { literal, sql, statement } from '../../database/sql.js';

/** The number of subscriptions that one step removes. */
const batch = 2000;

/** Subscriptions of one deleted topic. A topic without any is removed. */
const removeSubscriptions = statement<object, { topics: number; removed: number }>(
  'topics_remove_deleted',
  () => sql`
    with deleted as materialized (select id from topics where key is null limit 1),
    ended as (
      delete from subscriptions s using (
        select topic_id, user_id from subscriptions where topic_id = (select id from deleted)
        order by topic_id, user_id limit ${literal(batch)}) batch
      where s.topic_id = batch.topic_id and s.user_id = batch.user_id
      returning 1
    ),
    -- The snapshot of the statement: without subscriptions, there is nothing left to delete.
    gone as (
      delete from topics t using deleted
      where t.id = deleted.id and not exists (select from subscriptions where topic_id = deleted.id)
      returning 1
    )
    select (select count(*)::int from deleted) as topics, (select count(*)::int from ended) as removed`,
);

/** Removes deleted topics with their subscriptions. */
export const topicsTask: MaintenanceTask = {
  name: 'deleted topics',
  pauseMs: 60_000,
  async step(tx) {
    const [row] = await tx.query(removeSubscriptions({}));
    const { topics = 0, removed = 0 } = row ?? {};
    return topics === 0 ? { removed } : { removed, next: {} };
  },
};
