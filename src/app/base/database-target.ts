import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createServers } from '../../database/connections/servers.js';
import { type DatabaseTarget, serversOf } from '../../database/connections/target.js';
import { replacementOf } from '../../embedded/data-directory.js';
import { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from '../../embedded/embedded.js';
import { tidyKept } from '../../embedded/major-upgrade/folders.js';
import { upgradeMajor } from '../../embedded/major-upgrade/upgrade.js';
import type { Log } from '../../embedded/membership.js';
import { createSchema } from '../../schema/migrate.js';

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
 * Opens the configured database for the service, and watches which of its servers is the primary. Without DATABASE_URL,
 * joins or starts the embedded server of DATA_DIR. Creates the data directory if it does not exist, and moves data of a
 * former major version of PostgreSQL.
 * @param watchInterval see `Servers.watch`
 * @throws EmbeddedPostgresError
 */
export function openTarget(source: TargetSource, log: Log, watchInterval?: number): Promise<OpenTarget> {
  return open(source, log, (dataDir) => startOrUpgrade(dataDir, log), watchInterval);
}

/**
 * Removes the data of a former major version of PostgreSQL, seven days after the move to the current version. Call it
 * when the service has started: if the start fails, an operator may need the former data. The removal continues in the
 * background, because removing many files takes time.
 */
export function removeFormerVersionData({ DATABASE_URL, DATA_DIR }: TargetSource, log: Log): void {
  if (DATABASE_URL !== undefined) return;
  tidyKept(resolve(DATA_DIR)).catch((error: unknown) => log.warn({ err: error }, 'Former data could not be removed'));
}

async function startOrUpgrade(dataDir: string, log: Log): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres({ dataDir, log });
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresError && error.code === 'wrong_major_version')) throw error;
    await upgradeMajor({ dataDir, log, createSchema });
    return startEmbeddedPostgres({ dataDir, log });
  }
}

async function open(
  { DATABASE_URL, DATA_DIR }: TargetSource,
  log: Log,
  start: (dataDir: string) => Promise<EmbeddedPostgres>,
  watchInterval?: number,
): Promise<OpenTarget> {
  if (DATABASE_URL !== undefined) {
    const servers = createServers(DATABASE_URL);
    const stop = servers.watch(log, watchInterval);
    return { target: servers, close: async () => stop() };
  }
  const embedded = await start(DATA_DIR);
  return { target: embedded.address, close: () => embedded.stop() };
}

/**
 * Opens the configured database for a command. It must exist, and have the major version of this release. If
 * DATABASE_URL names several hosts, searches for the primary, because a command does not repeat its first statement.
 * @throws EmbeddedPostgresError, `no_database` where there is none
 * @throws NoPrimaryError
 */
export async function openExistingTarget(source: TargetSource, log: Log): Promise<OpenTarget> {
  const { DATABASE_URL, DATA_DIR } = source;
  const path = join(DATA_DIR, 'postgres');
  if (
    DATABASE_URL === undefined &&
    ![path, replacementOf(path)].some((folder) => existsSync(join(folder, 'PG_VERSION')))
  ) {
    throw new EmbeddedPostgresError(
      'no_database',
      `There is no database in ${resolve(DATA_DIR)}: check DATA_DIR, or run \`postern serve\` once, which creates it.`,
    );
  }
  const opened = await open(source, log, (dataDir) => startEmbeddedPostgres({ dataDir, log }));
  try {
    await serversOf(opened.target).locate();
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}
