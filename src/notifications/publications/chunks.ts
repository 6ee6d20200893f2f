import { sql, statement } from '../../database/sql.js';

/** The users of a chunk, in their order, and the notification of each. */
interface Chunk {
  readonly id: string;
  readonly firstUser: string;
  readonly lastUser: string;
  readonly userIds: readonly string[];
  readonly ids: readonly string[];
}
/** SQL: what is added to a chunk with the same first user. Only notifications of this user can be there already: those of guests. */
export const joinChunks = sql`
    on conflict (publication_id, first_user) do update
    set last_user = greatest(publication_chunks.last_user, excluded.last_user),
        user_ids = publication_chunks.user_ids || excluded.user_ids,
        notification_ids = publication_chunks.notification_ids || excluded.notification_ids`;

export const insertChunk = statement<Chunk>(
  'publication_chunk_insert',
  (p) => sql`
    insert into publication_chunks (publication_id, first_user, last_user, user_ids, notification_ids)
    values (${p.id}, ${p.firstUser}, ${p.lastUser}, ${p.userIds}::uuid[], ${p.ids}::uuid[])${joinChunks}`,
);
