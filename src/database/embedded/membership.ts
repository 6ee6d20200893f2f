import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { writeAccess } from './access.js';
import { type DataDirectory, SUPERUSER } from './data-directory.js';
import { codeOf, EmbeddedPostgresError, reasonOf } from './error.js';
import { clearRemains, serverProcesses, signalProcess } from './processes.js';
import { type Server, type StartedServer, spawnServer, tailOfLog } from './server.js';

export interface Log {
  info(obj: object, msg: string): void;
  warn(obj: object, msg: string): void;
  error(obj: object, msg: string): void;
}

/** A Postern's part in a running server: while it lasts, no other Postern stops the server. */
export interface Membership {
  /** The connection whose session holds the lock. Its loss is the loss of the server. */
  client: Client;
  isLost(): boolean;
  lost: Promise<void>;
  /** The process id of the server if this Postern started it, or undefined if it ran already. */
  startedPid: number | undefined;
}

/**
 * The key of the advisory lock that each Postern holds shared, and that only the last one gets exclusively. It is taken
 * in the database `postgres`: locks belong to one database, so it cannot meet those of Postern's own.
 */
const MEMBERSHIP_LOCK = 1;

/** How long a server may neither answer nor say that it is busy with starting or stopping. */
const PATIENCE_MS = 15_000;

/** When to say that it takes long: a recovery from a crash may. */
const NOTICE_AFTER_MS = 3000;

/** How often a server that ends right after its start is started again: it may have met another starter's. */
const START_ATTEMPTS = 3;

/** A shutdown writes everything out first. One that takes longer than this goes on without being waited for. */
const SHUTDOWN_PATIENCE_MS = 20_000;

/** The server says that it is starting, recovering or stopping, or ends the session because of that. */
const TRANSITIONS = new Set(['57P01', '57P02', '57P03']);

/**
 * Joins the server of a data directory, and starts it first if none is running.
 *
 * Starters need no lock of their own: PostgreSQL lets only one server have a data directory, and who loses finds the
 * winner's by connecting.
 *
 * @param stopping no recovery is waited for any more, however busy the server says it is
 * @throws EmbeddedPostgresError `start_failed`, `data_dir_unusable`
 */
export async function joinServer(server: Server, log: Log, stopping: AbortSignal): Promise<Membership> {
  let started: StartedServer | undefined;
  let failures = 0;
  let deadline = performance.now() + PATIENCE_MS;
  let noticeAt = performance.now() + NOTICE_AFTER_MS;
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    const result = await connectAsMember(server.data);
    if (!('error' in result)) {
      const membership = { ...result, startedPid: started?.pid };
      if (started === undefined) await restrictAccess(membership, server, log);
      return membership;
    }
    const code = codeOf(result.error) ?? '';
    if (TRANSITIONS.has(code) && !stopping.aborted) deadline = performance.now() + PATIENCE_MS;

    const failure = started?.failure();
    if (failure !== undefined) {
      started = undefined;
      failures += 1;
      if (failures === START_ATTEMPTS) throw startFailed(server, log, failure);
    }
    if (performance.now() > deadline) throw startFailed(server, log, `no answer, ${reasonOf(result.error)}`);
    const isNobodyListening = code === 'ENOENT' || code === 'ECONNREFUSED';
    if (started === undefined && isNobodyListening && (await clearRemains(server.data))) {
      writeAccess(server.data, server.account);
      started = spawnServer(server);
    }
    if (performance.now() > noticeAt) {
      log.info({ reason: reasonOf(result.error) }, 'Waiting for the embedded PostgreSQL');
      noticeAt = Number.POSITIVE_INFINITY;
    }
    await sleep(pause);
  }
}

/** A running server may be one that an older release started for root, which let its whole account in. */
async function restrictAccess({ client }: Membership, { data, account, isRoots }: Server, log: Log): Promise<void> {
  // Where DATA_DIR is another account's, that account may have started the server, and would be shut out.
  if (account === undefined || !isRoots) return;
  try {
    writeAccess(data, account);
    await client.query('select pg_reload_conf()');
  } catch (error) {
    // The next start tries again.
    log.warn({ err: error }, 'It could not be written who may connect to the embedded PostgreSQL');
  }
}

/**
 * Gives the membership up, and stops the server if it was the last one. Who joins at the same time cannot be harmed:
 * holding the lock, it keeps this one from being the last; without it, it finds the server stopping and starts anew.
 */
export async function leaveServer({ client }: Membership, { data }: Server, log: Log): Promise<void> {
  try {
    // Its own share first: of two that leave at once and keep theirs, neither would be the last.
    await client.query('select pg_advisory_unlock_shared($1)', [MEMBERSHIP_LOCK]);
    const { rows } = await client.query<{ last: boolean }>('select pg_try_advisory_lock($1) as last', [
      MEMBERSHIP_LOCK,
    ]);
    if (rows[0]?.last) await shutDown(data, log);
    else log.info({}, 'Left the embedded PostgreSQL to the other Postern that uses it');
  } catch (error) {
    log.warn({ err: error }, 'The embedded PostgreSQL was lost while it was to be left');
  } finally {
    await client.end();
  }
}

async function shutDown(data: DataDirectory, log: Log): Promise<void> {
  const postmasters = (await serverProcesses(data)).filter(({ role }) => role === 'postmaster').map(({ pid }) => pid);
  if (postmasters.length === 0) {
    log.warn({}, 'There was no process of the embedded PostgreSQL to stop: it has died, or cannot be seen from here');
    return;
  }
  for (const pid of postmasters) signalProcess(pid, 'SIGINT');
  const deadline = performance.now() + SHUTDOWN_PATIENCE_MS;
  for (let pause = 5; performance.now() < deadline; pause = Math.min(pause * 1.5, 100)) {
    await sleep(pause);
    const running = await serverProcesses(data);
    if (!running.some(({ pid }) => postmasters.includes(pid))) {
      log.info({}, 'Stopped the embedded PostgreSQL');
      return;
    }
  }
  log.warn({ pids: postmasters }, 'The embedded PostgreSQL takes long to stop, and was left to it');
}

/** Creates a database if it is missing; another Postern may do so at the same time. */
export async function ensureDatabase({ client }: Membership, name: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
  if (rowCount !== 0) return;
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    const isThere = codeOf(error) === '42P04' || codeOf(error) === '23505';
    if (!isThere) throw error;
  }
}

async function connectAsMember(data: DataDirectory): Promise<Omit<Membership, 'startedPid'> | { error: unknown }> {
  const client = new Client({
    host: data.name,
    port: 5432,
    user: SUPERUSER,
    database: 'postgres',
    application_name: 'postern membership',
    // Else PGSSLMODE in the environment decides, and there is no TLS on the socket.
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
  // Unheard, it would end the process. What matters is the end that follows.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ joined: boolean }>('select pg_try_advisory_lock_shared($1) as joined', [
      MEMBERSHIP_LOCK,
    ]);
    if (!rows[0]?.joined) throw new Error('another Postern is stopping it');
    return { client, isLost: () => isLost, lost };
  } catch (error) {
    // Not awaited: a server that hangs would not let go.
    client.end().catch(() => undefined);
    return { error };
  }
}

function startFailed({ logFile }: Server, log: Log, reason: string): EmbeddedPostgresError {
  const tail = tailOfLog(logFile);
  log.error({ logFile, tail }, 'The embedded PostgreSQL did not start; this is the end of its log');
  const cause = tail.findLast((line) => /\b(FATAL|PANIC): /.test(line))?.replace(/^.*?(FATAL|PANIC): +/, '');
  return new EmbeddedPostgresError(
    'start_failed',
    `The embedded PostgreSQL did not start (${reason}${cause === undefined ? '' : `: ${cause.slice(0, 200)}`}). ` +
      `Its log is ${logFile}; when the cause is mended, start Postern again, or set DATABASE_URL.`,
  );
}
