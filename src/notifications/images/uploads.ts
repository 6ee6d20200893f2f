import type { Handle } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { nilId } from '../../lib/ids.js';

const selectUploads = statement<{ after: string; limit: number }, { id: string }>(
  'images_uploaded',
  (p) => sql`
  select id from images where external_url is null and id > ${p.after}::uuid order by id limit ${p.limit}::int`,
);

const selectExisting = statement<{ ids: readonly string[] }, { id: string }>(
  'images_still_exist',
  (p) => sql`select id from images where id = any(${p.ids}::uuid[])`,
);

/**
 * One page of the ids of uploaded images, in the order of the ids.
 * @param after the last id of the previous page
 */
export async function uploadedImages(database: Handle, after: string | undefined, limit: number): Promise<string[]> {
  return (await database.query(selectUploads({ after: after ?? nilId, limit }))).map(({ id }) => id);
}

/** Returns those of the ids that still belong to an image. */
export async function existingImages(database: Handle, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  return new Set((await database.query(selectExisting({ ids }))).map(({ id }) => id));
}
