import { UnfitDatabaseError } from '../connections/suitability.js';
import { createDatabase, type Database, mainShard } from '../database.js';
import { MigrationError, type MigrationLog, migrate } from '../migrate.js';
import type { OpenTarget, ShardTarget } from '../open.js';
import type { ServerOptions } from '../server.js';
import { openShardMap } from './map.js';
import { startRecovery } from './recovery.js';
import { registerShards } from './register.js';
import type { ReturnLog } from './returning.js';
import { createShardedDatabase } from './sharded-database.js';

/** What a migration of all servers did. */
export interface Migrated {
  /** The names of the migrations that were applied to the server of DATABASE_URL. */
  readonly applied: readonly string[];
  /** The servers of SHARDS that do not answer, with their errors. */
  readonly away: ReadonlyMap<ShardTarget, unknown>;
}

/**
 * Brings the schema of every server up to date, and registers the servers of SHARDS. A server that does not answer is left
 * out, unless it is that of DATABASE_URL or is new.
 * @throws UnfitDatabaseError
 * @throws MigrationError
 */
export async function migrateAll({ target, shards }: OpenTarget, log: MigrationLog): Promise<Migrated> {
  const applied = await migrate(target, log);
  const away = new Map<ShardTarget, unknown>();
  for (const shard of shards) {
    try {
      await migrate(shard.target, log);
    } catch (error) {
      if (error instanceof UnfitDatabaseError) {
        throw new UnfitDatabaseError(`The server ${shard.name} of SHARDS cannot be used: ${error.message}`, {
          cause: error,
        });
      }
      if (error instanceof MigrationError) throw error;
      away.set(shard, error);
    }
  }
  if (shards.length > 0) await registerShards({ name: mainShard, target }, shards, away);
  return { applied, away };
}

export interface OpenOptions extends Omit<ServerOptions, 'target'> {
  readonly log: ReturnLog;
  /** Whether this process completes the transactions of processes that have died. */
  readonly completesTransactions: boolean;
  /** The servers that did not answer when the others were migrated. They are opened when they are back. */
  readonly away?: Migrated['away'];
}

/** Opens the database on one server or, with SHARDS, on several. */
export async function openDatabase({ target, shards }: OpenTarget, options: OpenOptions): Promise<Database> {
  const { log, completesTransactions, away = new Map(), ...poolOptions } = options;
  if (shards.length === 0) return createDatabase({ ...poolOptions, target });
  const map = await openShardMap(target, log);
  const targets = [{ name: mainShard, target }, ...shards];
  const { database, servers, stopOpening } = createShardedDatabase({ ...poolOptions, targets, map, away, log });
  const stopRecovery = completesTransactions ? startRecovery(servers, log) : async () => undefined;
  return {
    ...database,
    async close() {
      await Promise.all([stopOpening(), stopRecovery()]);
      await Promise.all([database.close(), map.close()]);
    },
  };
}
