import type { Database, Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { Problem } from '../../lib/problem.js';
import { lockUnlockedInboxes } from './inbox-locks.js';

/** The number of rows that one transaction changes. It locks the inbox rows of their inboxes. */
const batch = 500;

interface NamedRow {
  readonly user_id: string;
  readonly id: string;
}

/** Leaves out inboxes without a row in `inboxes`. They are being erased, and only an inbox row can number a change. */
const findNotificationsOfActor = statement<{ actorId: string }, NamedRow>(
  'actor_find',
  (p) => sql`
    select n.user_id, n.id from notifications n
    where n.actor_id = ${p.actorId} and n.actor is not null
      and exists (select from inboxes i where i.user_id = n.user_id)
    limit ${literal(batch)}`,
);

/**
 * Removes the actor's name from rows of locked inboxes. Like every change, these changes get their numbers and times
 * under the locks of the inbox rows. This statement runs after the statement that locks the inbox rows, so it sees
 * everything that was committed before.
 */
const clearNames = statement<
  {
    actorId: string;
    userIds: readonly string[];
    ids: readonly string[];
    lockedUserIds: readonly string[];
  },
  { user_id: string }
>(
  'actor_anonymise',
  (p) => sql`
    with
    numbered as (
      select n.user_id, n.id,
             last_change_sequence + row_number() over user_order as change_sequence,
             start + (row_number() over user_order - 1) * interval '1 microsecond' as time
      from unnest(${p.userIds}::uuid[], ${p.ids}::uuid[]) as found (user_id, id)
        join notifications n on n.user_id = found.user_id and n.id = found.id
        join (
          select user_id, last_change_sequence, greatest(db_now(), last_time + interval '1 microsecond') as start
          from inboxes where user_id = any (${p.lockedUserIds}::uuid[])
        ) inbox on inbox.user_id = n.user_id
      where n.actor_id = ${p.actorId} and n.actor is not null
      window user_order as (partition by n.user_id order by n.sequence)
    ),
    anonymised as (
      update notifications n
      set actor = null, change_sequence = numbered.change_sequence, updated_at = numbered.time
      from numbered where n.user_id = numbered.user_id and n.id = numbered.id
      returning n.user_id, n.change_sequence, n.updated_at
    ),
    moved as (
      update inboxes
      set last_change_sequence = last.change_sequence, last_time = last.time
      from (
        select user_id, max(change_sequence) as change_sequence, max(updated_at) as time from anonymised group by 1
      ) last
      where inboxes.user_id = last.user_id
    )
    select distinct user_id from anonymised`,
);

/**
 * Removes a deleted user's name from the notifications of other users. The id stays, because it no longer leads to a
 * person. Each removal counts as a change of the notification. It is safe to repeat, also after a failure.
 *
 * @param onChanged called after each commit with the users whose inboxes changed
 * @throws Problem `storage_unavailable` if all remaining rows belong to inboxes that other transactions have locked
 */
export async function anonymiseActor(
  database: Database,
  actorId: string,
  onChanged: (userIds: readonly string[]) => void,
): Promise<void> {
  for (;;) {
    const rows = await database.query(findNotificationsOfActor({ actorId }));
    if (rows.length === 0) return;
    const anonymised = await database.transaction((tx) => anonymiseBatch(tx, actorId, rows));
    if (anonymised.length === 0) throw new Problem('storage_unavailable');
    onChanged(anonymised);
  }
}

async function anonymiseBatch(tx: Queryable, actorId: string, named: readonly NamedRow[]): Promise<string[]> {
  const userIds = named.map((row) => row.user_id);
  const ids = named.map((row) => row.id);
  const lockedUserIds = await lockUnlockedInboxes(tx, userIds);
  const rows = await tx.query(clearNames({ actorId, userIds, ids, lockedUserIds }));
  return rows.map((row) => row.user_id);
}
