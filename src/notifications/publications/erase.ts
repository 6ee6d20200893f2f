import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { nilId } from '../../lib/ids.js';
import { joinChunks } from './chunks.js';

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
    ), begun as (
      delete from publication_chunks c using kept
      where c.publication_id = kept.publication_id and c.first_user = kept.first_user and c.first_user = ${p.userId}
      returning c.publication_id, c.last_user, kept.user_ids, kept.notification_ids
    ), rest as (
      insert into publication_chunks (publication_id, first_user, last_user, user_ids, notification_ids)
      select publication_id, user_ids[1], user_ids[cardinality(user_ids)], user_ids, notification_ids
      from begun where cardinality(user_ids) > 0${joinChunks}
    )
    update publication_chunks c
    set last_user = kept.user_ids[cardinality(kept.user_ids)],
        user_ids = kept.user_ids, notification_ids = kept.notification_ids
    from kept
    where c.publication_id = kept.publication_id and c.first_user = kept.first_user and c.first_user <> ${p.userId}`,
);

/**
 * What belongs to another user by now, because the deleted user was a guest who was merged: it goes on being a part of the publication,
 * which can be recalled. The other user may have other notifications of it.
 */
const keepMoved = statement<{ userId: string }>(
  'publication_chunks_keep_moved',
  (p) => sql`
    with moved as materialized (
      select c.publication_id, n.user_id, array_agg(n.user_id) as user_ids, array_agg(n.id) as notification_ids
      from publication_chunks c
      cross join lateral unnest(c.user_ids, c.notification_ids) item (user_id, notification_id)
      join notifications n on n.id = item.notification_id
      where c.first_user <= ${p.userId} and c.last_user >= ${p.userId} and item.user_id = ${p.userId}
        and n.user_id <> ${p.userId}
      group by c.publication_id, n.user_id
    )
    insert into publication_chunks as c (publication_id, first_user, last_user, user_ids, notification_ids)
    select publication_id, user_id, user_id, user_ids, notification_ids from moved
    on conflict (publication_id, first_user) do update
    set user_ids = excluded.user_ids || c.user_ids, notification_ids = excluded.notification_ids || c.notification_ids`,
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
 * Takes the id of a deleted user out of what publications have created, also as a bound of a chunk and as the position. For a guest who
 * was merged, the id of the other account takes its place. Call it after the user is deleted: no chunk that is read later contains the id.
 */
export async function erasePublished(database: Database, userId: string): Promise<void> {
  await database.user(userId).transaction(async (tx) => {
    await tx.query(lockRunning({}));
    await tx.query(keepMoved({ userId }));
    await tx.query(eraseId({ userId }));
    await tx.query(movePosition({ userId, none: nilId }));
  });
}
