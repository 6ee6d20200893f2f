import { type Sql, type SqlPart, sql, statement } from '../../database/sql.js';

/**
 * SQL: an `insert` for a CTE. It records events for webhooks in the statement that causes the events. It writes one row
 * for all users of the statement, or none if no endpoint receives such events. A relay reads the rows (decision 30).
 *
 * @param type the type of the events, as a text
 * @param from what follows `from`: rows with `user_id`, `id`, `sequence` and `time`, in the order of the users' events
 * @param data further values of the events, as jsonb
 */
export const recordInboxEvents = (type: Sql, from: Sql, data: Sql = sql`null::jsonb`): Sql => sql`
      insert into webhook_outbox (created_at, type, user_ids, object_ids, sequences, data)
      select max(time), ${type}, array_agg(user_id), array_agg(id), array_agg(sequence), ${data}
      from (select user_id, id, sequence, time from ${from}) happened
      where exists (select from webhook_endpoints where has_inbox_events)
      having count(*) > 0`;

/** SQL: whether an endpoint receives events of this type. @param type a text such as `delivery.sent` */
export const isSubscribed = (type: SqlPart): Sql =>
  sql`exists (select from webhook_endpoints where events && array['*', split_part(${type}, '.', 1) || '.*', ${type}])`;

/** Records an event of a user for webhooks, in the transaction that causes it. `data`: JSON of its values. */
export const recordUserEvent = statement<{ userId: string; type: string; actor: string; data: string }>(
  'user_webhook_event',
  (p) => sql`
    insert into webhook_outbox (created_at, type, actor, user_ids, data)
    select db_now(), ${p.type}::text, ${p.actor}, array[${p.userId}::uuid], ${p.data}::jsonb
    where ${isSubscribed(sql`${p.type}::text`)}`,
);
