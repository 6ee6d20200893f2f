import { type Queryable, sql } from '../../database/database.js';
import { addMessageJobs, codePriority } from './enqueue.js';

/** Messages that one statement dispatches. It must end well before a statement's time is up. */
const atOnce = 500;

/** Of one turn the oldest goes first. Never in the future, which a step of the clock could make of it. */
const inTurn = { priority: codePriority('turn'), runAt: 'least(created_at, now())' };

/**
 * Dispatches the oldest messages that were asked for: their logins become `pending`, a message to nobody is dropped, and
 * every other one gets its job. All in one statement, so that what a message to nobody costs is a small part of one, and
 * so that a login becomes `pending` at the same moment whether or not somebody gets its message (decision 58).
 *
 * It waits for no row: what somebody holds is left for a later look. A message that is gone leaves nothing to do.
 * Planned at each use, as all that is asked of many users at once.
 */
const dispatchOldest = sql(
  `with waiting as materialized (
     select user_id, id, turn, created_at from undispatched_messages
     order by created_at limit ${atOnce} for update skip locked),
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
   job as (${addMessageJobs('taken where recipient is not null', inTurn)})
   select (select count(*) from waiting) = ${atOnce} and exists (select from taken) as more, (select count(*) from job) as jobs`,
);

/** @returns whether there may be more to dispatch */
export async function dispatchMessages(handle: Queryable): Promise<boolean> {
  const [row] = await handle.query<{ more: boolean }>(dispatchOldest);
  return row?.more === true;
}
