import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';

const eraseId = statement<{ userId: string }>(
  'publication_chunks_erase',
  (p) => sql`
    update publication_chunks c set user_ids = kept.user_ids, notification_ids = kept.notification_ids
    from (
      select publication_id, first_user,
             array(select id from unnest(user_ids) with ordinality item (id, place) where id <> ${p.userId} order by place) as user_ids,
             array(select notification_id from unnest(user_ids, notification_ids) with ordinality item (id, notification_id, place)
                   where id <> ${p.userId} order by place) as notification_ids
      from publication_chunks
      where first_user <= ${p.userId} and last_user >= ${p.userId} and ${p.userId}::uuid = any (user_ids)
    ) kept
    where c.publication_id = kept.publication_id and c.first_user = kept.first_user`,
);

/** Takes the id of a deleted user out of what publications have created. The bounds of a chunk may still be that id's neighbours. */
export async function erasePublished(database: Database, userId: string): Promise<void> {
  await database.user(userId).query(eraseId({ userId }));
}
