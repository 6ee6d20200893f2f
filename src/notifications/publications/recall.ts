import type { Transaction } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { joinChunks } from './chunks.js';

/** Deletes notifications of users, each with a record for clients. @returns how many there were */
export type RemoveNotifications = (
  tx: Transaction,
  userIds: readonly string[],
  ids: readonly string[],
) => Promise<number>;

/** The most notifications that a step of a recall removes: a removal takes several times as long as an insertion. */
const recalledAtOnce = 500;

/**
 * Takes the first notifications of the chunks, as many as the database deletes in time: a slow publication has written chunks of few
 * users. Of the last chunk, the rest stays.
 */
const takeChunks = statement<{ id: string; limit: number }, { notification_ids: string[] | null }>(
  'publication_chunks_take',
  (p) => sql`
    with recursive ahead (first_user, size, through) as (
      (select first_user, cardinality(user_ids), cardinality(user_ids)
       from publication_chunks where publication_id = ${p.id} order by first_user limit 1)
      union all
      select next.first_user, next.size, ahead.through + next.size
      from ahead cross join lateral (
        select c.first_user, cardinality(c.user_ids) as size from publication_chunks c
        where c.publication_id = ${p.id} and c.first_user > ahead.first_user order by c.first_user limit 1) next
      where ahead.through < ${p.limit}::int
    ), taken as materialized (
      select c.first_user, c.last_user, c.user_ids, c.notification_ids,
             least(size, ${p.limit}::int - (through - size)) as count
      from ahead join publication_chunks c on c.publication_id = ${p.id} and c.first_user = ahead.first_user
    ), emptied as (
      delete from publication_chunks c using taken
      where c.publication_id = ${p.id} and c.first_user = taken.first_user
    ), shortened as (
      insert into publication_chunks (publication_id, first_user, last_user, user_ids, notification_ids)
      select ${p.id}, user_ids[count + 1], last_user, user_ids[count + 1:], notification_ids[count + 1:]
      from taken where count < cardinality(user_ids)${joinChunks}
    )
    select array_agg(notification_id) as notification_ids
    from taken cross join lateral unnest(notification_ids[:count]) notification_id`,
);
/** Who has the notifications now: that of a guest belongs to the account into which the guest was merged. */
const selectOwners = statement<{ ids: readonly string[] }, { user_id: string; id: string }>(
  'publication_owners',
  (p) => sql`select user_id, id from notifications where id = any (${p.ids}::uuid[])`,
);
/** How often notifications may get another owner while they are being removed. */
const maxMoves = 5;
const countRemoved = statement<{ id: string; removed: number }>(
  'publication_recall_advance',
  (p) => sql`
    update notification_publications
    set removed = removed + ${p.removed}, due_at = db_now(), updated_at = db_now() where id = ${p.id}`,
);
const finishRecall = statement<{ id: string }>(
  'publication_recall_finish',
  (p) => sql`
    update notification_publications set recall_finished_at = db_now(), due_at = null, updated_at = db_now()
    where id = ${p.id}`,
);

/**
 * Removes the next notifications of a publication that is recalled. Their pushes, mails and SMS that are not handed over end.
 * @param size what the database creates in time
 * @returns whether all are removed
 */
export async function recallChunk(
  tx: Transaction,
  remove: RemoveNotifications,
  id: string,
  size: number,
): Promise<boolean> {
  const [chunk] = await tx.query(takeChunks({ id, limit: Math.min(size, recalledAtOnce) }));
  const ids = chunk?.notification_ids ?? [];
  if (ids.length > 0) {
    await tx.query(countRemoved({ id, removed: await removeEach(tx, remove, ids) }));
    return false;
  }
  await tx.query(finishRecall({ id }));
  return true;
}

/** A guest may be merged until the inbox is locked. Then the notification is found in the other inbox. */
async function removeEach(tx: Transaction, remove: RemoveNotifications, ids: readonly string[]): Promise<number> {
  let removed = 0;
  for (let moves = 0; moves <= maxMoves; moves += 1) {
    const owners = await tx.query(selectOwners({ ids }));
    if (owners.length === 0) return removed;
    removed += await remove(
      tx,
      owners.map(({ user_id: userId }) => userId),
      owners.map((owner) => owner.id),
    );
  }
  throw new Error('notifications get other owners while they are removed');
}
