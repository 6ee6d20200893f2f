import type { Database, Queryable, Shard } from '../database.js';
import { MovedError } from '../server.js';
import { directoryStatement, type Scope, sql } from '../sql.js';
import { partOn, serverNamed } from './routing.js';

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

/**
 * Runs work on each server, in one transaction that must miss no user. Call it in a transaction of the database, which runs
 * again after `MovedError`.
 * @throws MovedError if the map of this process has changed meanwhile (see `onEveryShard`)
 */
export async function onEveryPart(
  { shards, mapVersion }: Pick<Database, 'shards' | 'mapVersion'>,
  tx: Queryable<'directory'>,
  work: (part: Queryable<Scope>, shard: Shard) => Promise<void>,
): Promise<void> {
  const version = mapVersion();
  for (const shard of shards) await work(partOn(tx, shard), shard);
  if (mapVersion() !== version) throw new MovedError(new Error('users were moved while the servers were read'));
}
