import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createServers } from './connections/servers.js';
import type { DatabaseTarget } from './connections/target.js';
import type { Log } from './embedded/membership.js';
import { EmbeddedPostgresError, startEmbeddedPostgres } from './embedded.js';

/** The part of the configuration that selects the database. */
export interface TargetSource {
  readonly DATABASE_URL?: string | undefined;
  readonly DATA_DIR: string;
}

/** A database that accepts connections until `close()`. */
export interface OpenTarget {
  readonly target: DatabaseTarget;
  /** Leaves an embedded server, which stops when no other process uses it. Close all connections first. */
  close(): Promise<void>;
}

/**
 * Opens the configured database, and watches which of its servers is the primary. Without DATABASE_URL, joins or starts
 * the embedded server of DATA_DIR, and creates it if it does not exist.
 * @throws EmbeddedPostgresError
 */
export async function openTarget({ DATABASE_URL, DATA_DIR }: TargetSource, log: Log): Promise<OpenTarget> {
  if (DATABASE_URL !== undefined) {
    const servers = createServers(DATABASE_URL);
    const stop = servers.watch(log);
    return { target: servers, close: async () => stop() };
  }
  const embedded = await startEmbeddedPostgres({ dataDir: DATA_DIR, log });
  return { target: embedded.address, close: () => embedded.stop() };
}

/** Opens the configured database, which must exist. @throws EmbeddedPostgresError, `no_database` where there is none */
export async function openExistingTarget(source: TargetSource, log: Log): Promise<OpenTarget> {
  const { DATABASE_URL, DATA_DIR } = source;
  if (DATABASE_URL === undefined && !existsSync(join(DATA_DIR, 'postgres', 'PG_VERSION'))) {
    throw new EmbeddedPostgresError(
      'no_database',
      `There is no database in ${resolve(DATA_DIR)}: check DATA_DIR, or run \`postern serve\` once, which creates it.`,
    );
  }
  return openTarget(source, log);
}
