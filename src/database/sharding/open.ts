import { createDatabase, type Database, mainShard } from '../database.js';
import { type MigrationLog, migrate } from '../migrate.js';
import type { OpenTarget } from '../open.js';
import type { ServerOptions } from '../server.js';
import { type MapLog, openShardMap } from './map.js';
import { startRecovery } from './recovery.js';
import { registerShards } from './register.js';
import { createShardedDatabase } from './sharded-database.js';

/**
 * Brings the schema of every server up to date, and registers the servers of SHARDS.
 * @returns the names of the migrations that it applied to the server of DATABASE_URL
 * @throws UnfitDatabaseError
 * @throws MigrationError
 */
export async function migrateAll({ target, shards }: OpenTarget, log: MigrationLog): Promise<string[]> {
  const applied = await migrate(target, log);
  for (const shard of shards) await migrate(shard.target, log);
  if (shards.length > 0) await registerShards([{ name: mainShard, target }, ...shards]);
  return applied;
}

/**
 * Opens the database on one server or, with SHARDS, on several.
 * @param options.recovers whether this process completes the transactions of processes that have died
 */
export async function openDatabase(
  { target, shards }: OpenTarget,
  options: Omit<ServerOptions, 'target'> & { readonly log: MapLog; readonly recovers: boolean },
): Promise<Database> {
  const { log, recovers, ...poolOptions } = options;
  if (shards.length === 0) return createDatabase({ ...poolOptions, target });
  const map = await openShardMap(target, log);
  const targets = [{ name: mainShard, target }, ...shards];
  const { database, servers } = createShardedDatabase({ ...poolOptions, targets, map });
  const stopRecovery = recovers ? startRecovery(servers, log) : async () => undefined;
  return {
    ...database,
    async close() {
      await stopRecovery();
      await Promise.all([database.close(), map.close()]);
    },
  };
}
