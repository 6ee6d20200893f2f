import type { Database, Shard } from '../database.js';
import { directoryStatement, sql } from '../sql.js';
import { serverNamed } from './routing.js';

interface MapState {
  readonly version: string;
  readonly names: readonly string[];
}

const selectMap = directoryStatement<Record<never, never>, MapState>(
  'shards_all',
  () => sql`select version, array(select name from shards order by name) as names from shard_map`,
);

/**
 * Runs work that must miss no user. If users move meanwhile, it runs again: a user may have moved from a server that it
 * had not read yet to one that it had read before.
 * @param work gets the servers of all users. It must be safe to repeat
 * @throws Problem `storage_unavailable` if SHARDS of this process does not name one of the servers: when a server is
 *   added, the instances that were not restarted yet do not know it
 */
export async function onEveryShard<T>(
  { shards, directory }: Pick<Database, 'shards' | 'directory'>,
  work: (shards: readonly Shard[]) => Promise<T>,
): Promise<T> {
  if (shards.length === 1) return work(shards);
  const known = new Map(shards.map((shard) => [shard.name, shard]));
  const readVersion = async () => {
    const [map] = await directory.query(selectMap({}));
    for (const name of map?.names ?? []) serverNamed(known, name);
    return map?.version;
  };
  for (let version = await readVersion(); ; ) {
    const result = await work(shards);
    const latest = await readVersion();
    if (latest === version) return result;
    version = latest;
  }
}
