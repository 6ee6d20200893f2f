import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { writeAccess } from './access.js';
import { type DataDirectory, superuser } from './data-directory.js';
import { codeOf, EmbeddedPostgresError, reasonOf } from './error.js';
import { removeRemains, serverProcesses, signalProcess } from './processes.js';
import { type Server, type StartedServer, spawnServer, tailOfLog } from './server.js';

export interface Log {
  info(obj: object, msg: string): void;
  warn(obj: object, msg: string): void;
  error(obj: object, msg: string): void;
}

/** A Postern's use of a running server. While it lasts, no other Postern stops the server. */
export interface Membership {
  /** The connection whose session holds the lock. If it breaks, the server is lost. */
  client: Client;
  isLost(): boolean;
  lost: Promise<void>;
  /** The process id of the server if this Postern started it; undefined if it was running already. */
  startedPid: number | undefined;
}

/**
 * The key of the advisory lock that each Postern holds shared, and that only the last one gets exclusively. It is taken
 * in the database `postgres`. Locks belong to one database, so it cannot conflict with the locks in Postern's own
 * database.
 */
export const membershipLock = 1;

/** The name of the connections of a process that moves the data to a new major version, and holds the lock exclusively. */
export const upgradeName = 'postern upgrade';

/** The code of the error while another process moves the data to a new major version. */
const movingCode = 'moving';

/**
 * Milliseconds. An attempt ends if for this long there is no connection, and the server does not answer that it starts or
 * stops.
 */
const timeoutMs = 15_000;

/** Milliseconds after which the log says that the start takes long. Recovery from a crash may take minutes. */
const logWaitAfterMs = 3000;

/** Attempts to start a server that ends right after its start. Another starter's server may have caused that. */
const maxStartAttempts = 3;

/** A shutdown writes all data to disk first. Postern does not wait longer than this. */
const shutdownTimeoutMs = 20_000;

/**
 * admin_shutdown, crash_shutdown and cannot_connect_now: the server is starting, recovering or stopping. A move to a
 * new major version is included, because it takes long too.
 */
const transitionCodes = new Set(['57P01', '57P02', '57P03', movingCode]);

/**
 * Joins the server of a data directory, and starts it first if none is running.
 *
 * Starters need no lock of their own: PostgreSQL lets only one server use a data directory. The starter that loses
 * connects to the winner's server.
 *
 * @param stopping when it aborts, the function no longer waits for a recovery
 * @throws EmbeddedPostgresError `start_failed`, `data_dir_unusable`
 */
export async function joinServer(server: Server, log: Log, stopping: AbortSignal): Promise<Membership> {
  let started: StartedServer | undefined;
  let failures = 0;
  let deadline = performance.now() + timeoutMs;
  let logWaitAt = performance.now() + logWaitAfterMs;
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    const result = await connectAsMember(server.data);
    if (!('error' in result)) {
      return { ...result, startedPid: started?.pid };
    }
    const code = codeOf(result.error) ?? '';
    if (transitionCodes.has(code) && !stopping.aborted) deadline = performance.now() + timeoutMs;

    const failure = started?.failure();
    if (failure !== undefined) {
      started = undefined;
      failures += 1;
      if (failures === maxStartAttempts) throw startError(server, log, failure);
    }
    if (performance.now() > deadline) throw startError(server, log, `no answer, ${reasonOf(result.error)}`);
    const isServerMissing = code === 'ENOENT' || code === 'ECONNREFUSED';
    if (started === undefined && isServerMissing && (await removeRemains(server.data))) {
      if (server.account === undefined) writeAccess(server.data);
      started = spawnServer(server);
    }
    if (performance.now() > logWaitAt) {
      log.info({ reason: reasonOf(result.error) }, 'Waiting for the embedded PostgreSQL');
      logWaitAt = Number.POSITIVE_INFINITY;
    }
    await sleep(pause);
  }
}

/**
 * Ends the membership, and stops the server if no other Postern uses it. A Postern that joins at the same time is safe.
 * Either it has the shared lock already, and this process does not stop the server. Or it finds the server stopping,
 * and starts another one.
 */
export async function leaveServer({ client }: Membership, { data }: Server, log: Log): Promise<void> {
  try {
    // Release the shared lock first: if two processes leave at once and keep their shared locks, neither gets the
    // exclusive lock.
    await client.query('select pg_advisory_unlock_shared($1)', [membershipLock]);
    const { rows } = await client.query<{ last: boolean }>('select pg_try_advisory_lock($1) as last', [membershipLock]);
    if (rows[0]?.last) await shutDown(data, log);
    else log.info({}, 'Left the embedded PostgreSQL to the other Postern that uses it');
  } catch (error) {
    log.warn({ err: error }, 'Lost the connection to the embedded PostgreSQL while leaving it');
  } finally {
    await client.end();
  }
}

async function shutDown(data: DataDirectory, log: Log): Promise<void> {
  const postmasters = (await serverProcesses(data)).filter(({ role }) => role === 'postmaster').map(({ pid }) => pid);
  if (postmasters.length === 0) {
    log.warn(
      {},
      'Found no process of the embedded PostgreSQL to stop: it has ended, or is not visible to this process',
    );
    return;
  }
  for (const pid of postmasters) signalProcess(pid, 'SIGINT');
  const deadline = performance.now() + shutdownTimeoutMs;
  for (let pause = 5; performance.now() < deadline; pause = Math.min(pause * 1.5, 100)) {
    await sleep(pause);
    if ((await serverProcesses(data, postmasters)).length === 0) {
      log.info({}, 'Stopped the embedded PostgreSQL');
      return;
    }
  }
  log.warn({ pids: postmasters }, 'The embedded PostgreSQL takes long to stop. Postern does not wait any longer');
}

/** Creates a database if it does not exist. Another Postern may do so at the same time. */
export async function ensureDatabase({ client }: Membership, name: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
  if (rowCount !== 0) return;
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    const exists = codeOf(error) === '42P04' || codeOf(error) === '23505';
    if (!exists) throw error;
  }
}

async function connectAsMember(data: DataDirectory): Promise<Omit<Membership, 'startedPid'> | { error: unknown }> {
  const client = new Client({
    host: data.ownPath,
    port: 5432,
    user: superuser,
    database: 'postgres',
    application_name: 'postern membership',
    // Otherwise PGSSLMODE in the environment decides, and the socket has no TLS.
    ssl: false,
    connectionTimeoutMillis: 5000,
    query_timeout: 10_000,
  });
  let isLost = false;
  const lost = new Promise<void>((resolve) => {
    client.once('end', () => {
      isLost = true;
      resolve();
    });
  });
  // Without a listener an error would end the process. `lost` settles by the `end` event that follows.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ joined: boolean; moving: boolean }>(
      `select pg_try_advisory_lock_shared($1) as joined,
              exists (select from pg_stat_activity where application_name = $2) as moving`,
      [membershipLock, upgradeName],
    );
    const [state] = rows;
    if (!state?.joined && state?.moving)
      throw Object.assign(new Error('another Postern moves its data'), { code: movingCode });
    if (!state?.joined) throw new Error('another Postern is stopping it');
    return { client, isLost: () => isLost, lost };
  } catch (error) {
    // This does not wait for the end of the connection, because a server that hangs would not close it.
    client.end().catch(() => undefined);
    return { error };
  }
}

/**
 * The reason in a log of a server that ended. A refused connection is logged in the same way, and may come after the reason.
 */
export function causeOf(log: readonly string[]): string | undefined {
  const isReason = (line: string) => /\b(FATAL|PANIC): /.test(line) && !/: +the database system is /.test(line);
  return log.findLast(isReason)?.replace(/^.*?(FATAL|PANIC): +/, '');
}

function startError({ logFile }: Server, log: Log, reason: string): EmbeddedPostgresError {
  const tail = tailOfLog(logFile);
  log.error({ logFile, tail }, 'The embedded PostgreSQL did not start. This is the end of its log');
  const cause = causeOf(tail);
  return new EmbeddedPostgresError(
    'start_failed',
    `The embedded PostgreSQL did not start (${reason}${cause === undefined ? '' : `: ${cause.slice(0, 200)}`}). ` +
      `Its log is ${logFile}. Fix the cause and start Postern again, or set DATABASE_URL.`,
  );
}
