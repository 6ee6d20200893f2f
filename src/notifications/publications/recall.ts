import type { Transaction } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { joinChunks } from './chunks.js';

/** Deletes notifications of users, and records each deletion for clients. @returns the number of deleted notifications */
export type RemoveNotifications = (
  tx: Transaction,
  userIds: readonly string[],
  ids: readonly string[],
) => Promise<number>;

/** The most notifications that a step of a recall removes: a removal takes several times as long as an insertion. */
const recalledAtOnce = 500;

/**
 * Takes up to `limit` notifications from the first chunks. The last chunk keeps the rest. Chunks of a slow publication are small, so one
 * step takes several.
 */
const takeChunks = statement<{ id: string; limit: number }, { notification_ids: string[] | null }>(
  'publication_chunks_take',
  (p) => sql`
    -- through: the sizes of the chunks up to this one.
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
      from taken where count < cardinality(user_ids)
      ${joinChunks}
    )
    select array_agg(notification_id) as notification_ids
    from taken cross join lateral unnest(notification_ids[:count]) notification_id`,
);
/** The present owners of the notifications. If a guest was merged into an account, the account has them. */
const selectOwners = statement<{ ids: readonly string[] }, { user_id: string; id: string }>(
  'publication_owners',
  (p) => sql`select user_id, id from notifications where id = any (${p.ids}::uuid[])`,
);
/** How often it looks for owners. They change while guests are merged. */
const maxPasses = 6;
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
 * Removes the next notifications of a publication that is recalled. It also cancels their pushes, mails and SMS that were not handed over.
 * @param size the size of a chunk that this database handles in one transaction without becoming slow (`nextSize`)
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

/** Removes notifications from the inboxes of their owners. It repeats that if a guest was merged before the inbox was locked. */
async function removeEach(tx: Transaction, remove: RemoveNotifications, ids: readonly string[]): Promise<number> {
  let removed = 0;
  for (let pass = 0; pass < maxPasses; pass += 1) {
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
