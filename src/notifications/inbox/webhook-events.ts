import { type Sql, sql } from '../../database/sql.js';

/**
 * SQL: an `insert` for a CTE. It records events for webhooks in the statement that causes the events. It writes one row for all users of
 * the statement, or none if no endpoint receives such events. A relay reads the rows (decision 30).
 *
 * @param type the type of the events, as a text
 * @param from the SQL after `from`: rows with `user_id`, `id`, `sequence` and `time`, in the order of the users' events
 * @param data further values of the events, as jsonb
 */
export const recordInboxEvents = (type: Sql, from: Sql, data: Sql = sql`null::jsonb`): Sql => sql`
      insert into webhook_outbox (created_at, type, user_ids, object_ids, sequences, data)
      select max(time), ${type}, array_agg(user_id), array_agg(id), array_agg(sequence), ${data}
      from (select user_id, id, sequence, time from ${from}) happened
      where exists (select from webhook_endpoints where has_inbox_events)
      having count(*) > 0`;
