import { type Database, prepared, type Queryable } from '../database/database.js';
import { Problem } from '../lib/problem.js';

/** Rows of one transaction, and so of one lock of their heads. */
const batch = 500;

// Whose own inbox is being erased is left to that: there is no head any more to number the change by.
const findNamed = prepared(
  'actor_find',
  `select n.user_id, n.id from notifications n
   where n.actor_id = $1 and n.actor is not null and exists (select from inboxes i where i.user_id = n.user_id)
   limit ${batch}`,
);
const lockHeads = prepared(
  'actor_lock_heads',
  'select user_id from inboxes where user_id = any ($1::uuid[]) order by user_id for update skip locked',
);
/** Numbered and timed under the locks, as every change is. A statement after them: it sees what was committed before. */
const blankRows = prepared(
  'actor_blank',
  `with
    numbered as (
      select n.user_id, n.id,
             last_change_sequence + row_number() over user_order as change_sequence,
             start + (row_number() over user_order - 1) * interval '1 microsecond' as time
      from unnest($2::uuid[], $3::uuid[]) as found (user_id, id)
        join notifications n on n.user_id = found.user_id and n.id = found.id
        join (
          select user_id, last_change_sequence, greatest(db_now(), last_time + interval '1 microsecond') as start
          from inboxes where user_id = any ($4::uuid[])
        ) head on head.user_id = n.user_id
      where n.actor_id = $1 and n.actor is not null
      window user_order as (partition by n.user_id order by n.sequence)
    ),
    blanked as (
      update notifications n
      set actor = null, change_sequence = numbered.change_sequence, updated_at = numbered.time
      from numbered where n.user_id = numbered.user_id and n.id = numbered.id
      returning n.user_id, n.change_sequence, n.updated_at
    ),
    moved as (
      update inboxes
      set last_change_sequence = last.change_sequence, last_time = last.time
      from (select user_id, max(change_sequence) as change_sequence, max(updated_at) as time from blanked group by 1) last
      where inboxes.user_id = last.user_id
    )
  select distinct user_id from blanked`,
);

/**
 * Takes a deleted user's name out of the notifications that others have; the id stays, which names nobody any more.
 * Each is a change of its notification. Doing it again or going on after a failure does no harm.
 *
 * @param changed hears of the users in whose inboxes something was changed, once it is committed
 * @throws Problem `storage_unavailable` when what is left belongs to users whose inbox somebody keeps locked
 */
export async function blankActor(
  database: Database,
  actorId: string,
  changed: (userIds: readonly string[]) => void,
): Promise<void> {
  for (;;) {
    const named = await database.query<{ user_id: string; id: string }>(findNamed, [actorId]);
    if (named.length === 0) return;
    const blanked = await database.transaction((tx) => blankBatch(tx, actorId, named));
    if (blanked.length === 0) throw new Problem('storage_unavailable');
    changed(blanked);
  }
}

async function blankBatch(
  tx: Queryable,
  actorId: string,
  named: readonly { readonly user_id: string; readonly id: string }[],
): Promise<string[]> {
  const users = named.map((row) => row.user_id);
  const locked = await tx.query<{ user_id: string }>(lockHeads, [[...new Set(users)]]);
  const ids = named.map(({ id }) => id);
  const values = [actorId, users, ids, locked.map((row) => row.user_id)];
  return (await tx.query<{ user_id: string }>(blankRows, values)).map((row) => row.user_id);
}
