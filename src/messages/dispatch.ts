import type { Queryable } from '../database/database.js';
import { bound, compose, sql } from '../database/sql.js';
import { addMessageJobs, codeAttempts, codePriority } from './enqueue.js';

/** The maximum number of messages in one statement, which must end well before the statement timeout. */
const batchSize = 500;

const jobs = {
  attempts: bound(codeAttempts),
  priority: codePriority(sql`turn`),
  // Jobs of one priority run oldest first. If the clock was set back, created_at may be in the future, and the job must
  // run anyway.
  runAt: sql`least(created_at, now())`,
  cause: sql`traceparent`,
};

/**
 * Dispatches the oldest queued messages: their logins become `pending`, messages without a recipient are dropped, and
 * jobs are added for the others. This is one statement, so that the times do not show whether a message has a recipient
 * (decision 24). It leaves locked rows for a later run. It is not prepared, so that it is planned for the current table
 * sizes.
 */
const dispatchOldest = compose<{ more: boolean }>(
  sql`
  with queued as materialized (
    select user_id, id, turn, created_at, traceparent from undispatched_messages
    order by created_at limit ${bound(batchSize)} for update skip locked),
  locked_message as materialized (
    select q.user_id, q.id, o.authentication_id, o.channel, o.recipient
    from queued q join outbox o on o.user_id = q.user_id and o.id = q.id
    for update of o skip locked),
  locked_login as materialized (
    select a.user_id, a.id
    from locked_message m join authentications a on a.user_id = m.user_id and a.id = m.authentication_id
    where a.status = 'created' and a.expires_at > db_now()
    for update of a skip locked),
  dispatched as materialized (
    select q.user_id, q.id, q.turn, q.created_at, q.traceparent, m.channel, m.recipient
    from queued q
      left join outbox o on o.user_id = q.user_id and o.id = q.id
      left join locked_message m on m.user_id = q.user_id and m.id = q.id
      left join locked_login l on l.user_id = m.user_id and l.id = m.authentication_id
      left join authentications a on a.user_id = m.user_id and a.id = m.authentication_id
                                 and a.status = 'created' and a.expires_at > db_now()
    where o.id is null or (m.id is not null and (a.id is null or l.id is not null))),
  removed as (
    delete from undispatched_messages u using dispatched d where u.user_id = d.user_id and u.id = d.id),
  started as (
    update authentications a set status = 'pending', updated_at = db_now()
    from locked_login l where a.user_id = l.user_id and a.id = l.id),
  dropped as (
    update outbox o set state = 'dropped', attempts = attempts + 1, updated_at = db_now()
    from dispatched d where o.user_id = d.user_id and o.id = d.id and d.recipient is null),
  job as (${addMessageJobs(sql`dispatched where recipient is not null`, jobs)})
  select (select count(*) from queued) = ${bound(batchSize)} and exists (select from dispatched) as more,
         (select count(*) from job) as jobs`,
);

/** @returns whether there may be more messages to dispatch */
export async function dispatchMessages(handle: Queryable): Promise<boolean> {
  const [row] = await handle.query(dispatchOldest);
  return row?.more === true;
}
