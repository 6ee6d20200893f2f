import type { Queryable } from '../database/database.js';
import { bound, compose, sql } from '../database/sql.js';
import { addMessageJobs, codeAttempts, codePriority } from './enqueue.js';

/** Messages in one statement, which must end well before the statement timeout. */
const batchSize = 500;

const jobs = {
  attempts: bound(codeAttempts),
  priority: codePriority(sql`turn`),
  // Of one priority the oldest goes first. A step of the clock can put created_at into the future, where no job would run.
  runAt: sql`least(created_at, now())`,
};

/**
 * Dispatches the oldest queued messages: their logins become `pending`, messages without a recipient are dropped, and the
 * others get their jobs. One statement does it all, so that a login becomes `pending` at the same moment whether or not
 * its message has a recipient, and so that a message without one costs little (decision 58).
 *
 * It skips locked rows and leaves them for a later run. A message that was deleted only loses its queue entry.
 * Unprepared, so that it is planned for the current sizes of the tables.
 */
const dispatchOldest = compose<{ more: boolean }, 'everyone'>(
  'everyone',
  sql`
  with waiting as materialized (
    select user_id, id, turn, created_at from undispatched_messages
    order by created_at limit ${bound(batchSize)} for update skip locked),
  message as materialized (
    select w.user_id, w.id, o.authentication_id, o.channel, o.recipient
    from waiting w join outbox o on o.user_id = w.user_id and o.id = w.id
    for update of o skip locked),
  opened as materialized (
    select a.user_id, a.id from message m join authentications a on a.user_id = m.user_id and a.id = m.authentication_id
    where a.status = 'created' and a.expires_at > db_now()
    for update of a skip locked),
  taken as materialized (
    select w.user_id, w.id, w.turn, w.created_at, m.channel, m.recipient
    from waiting w
      left join outbox o on o.user_id = w.user_id and o.id = w.id
      left join message m on m.user_id = w.user_id and m.id = w.id
      left join opened p on p.user_id = m.user_id and p.id = m.authentication_id
      left join authentications a on a.user_id = m.user_id and a.id = m.authentication_id
                                 and a.status = 'created' and a.expires_at > db_now()
    where o.id is null or (m.id is not null and (a.id is null or p.id is not null))),
  removed as (
    delete from undispatched_messages u using taken t where u.user_id = t.user_id and u.id = t.id),
  started as (
    update authentications a set status = 'pending', updated_at = db_now()
    from opened p where a.user_id = p.user_id and a.id = p.id),
  dropped as (
    update outbox o set state = 'dropped', attempts = attempts + 1, updated_at = db_now()
    from taken t where o.user_id = t.user_id and o.id = t.id and t.recipient is null),
  job as (${addMessageJobs(sql`taken where recipient is not null`, jobs)})
  select (select count(*) from waiting) = ${bound(batchSize)} and exists (select from taken) as more,
         (select count(*) from job) as jobs`,
);

/** @returns whether there may be more messages to dispatch */
export async function dispatchMessages(handle: Queryable<'everyone'>): Promise<boolean> {
  const [row] = await handle.query(dispatchOldest);
  return row?.more === true;
}
