import type { Database, Shard } from '../database.js';
import { directoryStatement, sql } from '../sql.js';
import { serverNamed } from './routing.js';

const selectNames = directoryStatement<Record<never, never>, { name: string }>(
  'shards_all',
  () => sql`select name from shards order by name`,
);

/**
 * The servers of all users, for work that must miss none. When a server is added, the instances that were not restarted
 * yet do not know it.
 * @throws Problem `storage_unavailable` if SHARDS of this process does not name one of them
 */
export async function everyShard({
  shards,
  directory,
}: Pick<Database, 'shards' | 'directory'>): Promise<readonly Shard[]> {
  if (shards.length === 1) return shards;
  const known = new Map(shards.map((shard) => [shard.name, shard]));
  for (const { name } of await directory.query(selectNames({}))) serverNamed(known, name);
  return shards;
}
