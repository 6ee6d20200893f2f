import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverAccount } from './account.js';
import { copyFoldersFor, locateBinaries } from './binaries.js';
import { copyOwner, prepareDataDir } from './data-directory.js';
import { EmbeddedPostgresError } from './error.js';
import { ensureDatabase, joinServer, type Log, leaveServer, type Membership } from './membership.js';
import { addressOf, type DatabaseAddress, databaseName, openServer, type Server } from './server.js';

export { copyOwner, EmbeddedPostgresError };

export interface EmbeddedPostgres {
  /** Valid in this process only, until {@link EmbeddedPostgres.stop}. Close all connections before that. */
  address: DatabaseAddress;
  /**
   * Leaves the server. The last Postern process that uses this data directory stops the server and waits until it has ended.
   * Idempotent. Never rejects: errors go to the log.
   */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** DATA_DIR: created if missing, readable by its owner only. */
  dataDir: string;
  log: Log;
  /** Megabytes of memory of the server; for tests, whose data is small. */
  sharedBuffers?: number;
  /** More options of the initdb that creates the data directory; for tests, whose backups are small with small segments of the log. */
  initdbOptions?: readonly string[];
}

/** The pause before a lost server is started again. It doubles with each attempt, up to `maxPauseMs`. */
const firstPauseMs = 50;
const maxPauseMs = 2000;

/** If the server runs for longer than this, the next pause is the first one again. */
const stableAfterMs = 30_000;

/**
 * Joins the PostgreSQL that runs on `dataDir`, or starts it with the binaries that npm installed. Its data is in
 * `postgres`, its log in `postgres.log`. If the server dies while this process uses it, this process starts it again.
 *
 * @throws EmbeddedPostgresError
 */
export async function startEmbeddedPostgres({
  dataDir,
  log,
  sharedBuffers,
  initdbOptions,
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const server = { ...(await prepareServer(resolve(dataDir), initdbOptions)), sharedBuffers };
  const stopping = new AbortController();
  try {
    const membership = await joinServer(server, log, stopping.signal);
    const pid = membership.startedPid;
    log.info({ pid }, pid === undefined ? 'Joined the running embedded PostgreSQL' : 'Started the embedded PostgreSQL');
    try {
      await ensureDatabase(membership, databaseName);
    } catch (error) {
      await leaveServer(membership, server, log);
      throw error;
    }
    const supervision = supervise(server, membership, log, stopping.signal).finally(() => server.data.close());
    return {
      address: addressOf(server),
      stop: () => {
        stopping.abort();
        return supervision;
      },
    };
  } catch (error) {
    server.data.close();
    throw error;
  }
}

/** The embedded PostgreSQL of this installation. */
export interface EmbeddedInstallation {
  readonly majorVersion: number;
  /** The operating-system account that must own the data directory. Undefined: that of this process. */
  readonly account: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Finds the binaries that would run on a data directory.
 * @param path the data directory, which may not exist yet
 * @throws EmbeddedPostgresError
 */
export async function findEmbeddedInstallation(path: string): Promise<EmbeddedInstallation> {
  const account = serverAccount(path);
  const { majorVersion } = await locateBinaries(account, copyFoldersFor(account, tmpdir()));
  return { majorVersion, account };
}

async function prepareServer(dataDir: string, initdbOptions: readonly string[] | undefined): Promise<Server> {
  await prepareDataDir(dataDir);
  const path = join(dataDir, 'postgres');
  const account = serverAccount(path);
  const binaries = await locateBinaries(account, copyFoldersFor(account, dataDir));
  return openServer(dataDir, path, binaries, account, initdbOptions);
}

/** Starts the server again each time that it is lost, until `stopping` aborts. Then leaves the server. */
async function supervise(server: Server, first: Membership, log: Log, stopping: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    stopping.addEventListener('abort', () => resolve(), { once: true });
  });
  let membership: Membership | undefined = first;
  let losses = 0;
  while (membership !== undefined) {
    const joinedAt = performance.now();
    await Promise.race([membership.lost, stopped]);
    if (!membership.isLost()) return leaveServer(membership, server, log);
    log.warn({}, 'Lost the embedded PostgreSQL');
    losses = performance.now() - joinedAt > stableAfterMs ? 0 : losses + 1;
    membership = await rejoin(server, log, stopping, losses);
  }
}

/**
 * Tries to join or start the server until it succeeds. After `stopping` aborts, it tries one last time: only a process that has
 * joined can stop a server that no other process uses.
 */
async function rejoin(
  server: Server,
  log: Log,
  stopping: AbortSignal,
  losses: number,
): Promise<Membership | undefined> {
  for (let attempt = losses; ; attempt += 1) {
    const pause = Math.min(firstPauseMs * 2 ** attempt, maxPauseMs);
    // Random, because all processes lose the server at the same moment. The abort only ends the pause.
    await sleep(pause * (0.5 + Math.random()), undefined, { signal: stopping }).catch(() => undefined);
    try {
      const membership = await joinServer(server, log, stopping);
      const pid = membership.startedPid;
      log.warn({ pid }, pid === undefined ? 'Rejoined the embedded PostgreSQL' : 'Restarted the embedded PostgreSQL');
      return membership;
    } catch (error) {
      log.error({ err: error }, 'The embedded PostgreSQL could not be restarted');
      if (stopping.aborted) return undefined;
    }
  }
}
