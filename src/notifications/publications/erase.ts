import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { nilId } from '../../lib/ids.js';

/** The lock of a step: the chunk that is being written may end with the id. */
const lockRunning = statement<object>(
  'publication_erase_lock',
  () => sql`
    select id from notification_publications where ended_at is null and status = 'running' order by id for no key update`,
);

const eraseId = statement<{ userId: string }>(
  'publication_chunks_erase',
  (p) => sql`
    with kept as materialized (
      select publication_id, first_user,
             array(select id from unnest(user_ids) with ordinality item (id, place) where id <> ${p.userId} order by place) as user_ids,
             array(select notification_id from unnest(user_ids, notification_ids) with ordinality item (id, notification_id, place)
                   where id <> ${p.userId} order by place) as notification_ids
      from publication_chunks
      where first_user <= ${p.userId} and last_user >= ${p.userId} and ${p.userId}::uuid = any (user_ids)
    ), emptied as (
      delete from publication_chunks c using kept
      where c.publication_id = kept.publication_id and c.first_user = kept.first_user and cardinality(kept.user_ids) = 0
    )
    update publication_chunks c
    set first_user = kept.user_ids[1], last_user = kept.user_ids[cardinality(kept.user_ids)],
        user_ids = kept.user_ids, notification_ids = kept.notification_ids
    from kept
    where c.publication_id = kept.publication_id and c.first_user = kept.first_user and cardinality(kept.user_ids) > 0`,
);

/** No user is between the two positions, so the next chunk begins with the same one. */
const movePosition = statement<{ userId: string; none: string }>(
  'publication_position_erase',
  (p) => sql`
    update notification_publications
    set position = coalesce((select id from users where id < ${p.userId} order by id desc limit 1), ${p.none})
    where ended_at is null and position = ${p.userId}`,
);

/**
 * Takes the id of a deleted user out of what publications have created, also as a bound of a chunk and as the position. Call it after
 * the user is deleted: no chunk that is read later contains the id.
 */
export async function erasePublished(database: Database, userId: string): Promise<void> {
  await database.user(userId).transaction(async (tx) => {
    await tx.query(lockRunning({}));
    await tx.query(eraseId({ userId }));
    await tx.query(movePosition({ userId, none: nilId }));
  });
}
