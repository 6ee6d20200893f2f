import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { openClient } from '../../database/connections/open-client.js';
import type { DatabaseTarget } from '../../database/connections/target.js';

/** The key of an advisory lock: one backup of a database runs at a time. No other lock uses this number. */
export const backupLock = 7_203_415_054;

/** The beginning of the name of the replication slot for which the server keeps its log. The id of the log archive follows. */
export const slotPrefix = 'postern_archive_';

/** SQL: the id of the log archive that is being written, or null. */
export const currentArchive = `(select substr(slot_name, ${slotPrefix.length + 1}) from pg_replication_slots
  where starts_with(slot_name, '${slotPrefix}') order by slot_name limit 1)`;

/**
 * Opens a connection for statements that may take long, for as long as `work` runs.
 * @param stop ends the connection, and with it the statement that runs
 */
export async function withSession<T>(
  target: DatabaseTarget,
  work: (client: pg.Client) => Promise<T>,
  stop?: AbortSignal,
): Promise<T> {
  const client = await openClient(target, {
    application_name: 'postern backup',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // Scans of large tables must not take the cores that requests need.
    settings: {
      statement_timeout: '0',
      lock_timeout: '0',
      idle_in_transaction_session_timeout: '0',
      max_parallel_workers_per_gather: '0',
      TimeZone: 'UTC',
    },
  });
  // Not `client.end()`, which waits for the running statement.
  const disconnect = () => client.connection.stream.destroy();
  try {
    stop?.addEventListener('abort', disconnect);
    stop?.throwIfAborted();
    return await work(client);
  } finally {
    stop?.removeEventListener('abort', disconnect);
    await client.end().catch(() => undefined);
  }
}

/** The key of an advisory lock: one process archives the log of a database. No other lock uses this number. */
const archiveLock = 7_203_415_055;

/** Takes the lock of the log archive until the connection ends. @returns whether no other process archives the log */
export const lockArchiving = (client: pg.Client): Promise<boolean> => tryLock(client, archiveLock);

/** Takes the lock of backups until the connection ends. @returns whether no other backup is running */
export const lockBackups = (client: pg.Client): Promise<boolean> => tryLock(client, backupLock);

async function tryLock(client: pg.Client, key: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [key]);
  return rows[0]?.locked === true;
}

/** Waits for an advisory lock, and holds it until the connection ends. */
export async function waitForLock(client: pg.Client, key: number): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [key]);
}

/** The version of the server, such as `17.6`, and its major version. */
export async function readServerVersion(
  client: Pick<pg.Client, 'query'>,
): Promise<{ readonly version: string; readonly major: number }> {
  const { rows } = await client.query<{ version: string; number: string }>(
    "select current_setting('server_version') as version, current_setting('server_version_num') as number",
  );
  return { version: rows[0]?.version ?? '', major: Math.floor(Number(rows[0]?.number) / 10_000) };
}

/** The time of the server, which also decides when transactions were committed. */
export async function readTime(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ now: string }>(
    `select to_char(clock_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now`,
  );
  return rows[0]?.now ?? '';
}

/** `rate`: bytes per second. `start`: the number of bytes at the beginning that are not limited. */
const pace = { rate: 50_000_000, start: 64_000_000 };

/** Limits the speed of a stream, so that a large backup leaves the disk and the cores to requests. */
export async function* paced(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const startedAt = performance.now();
  let bytes = 0;
  for await (const part of source) {
    yield part;
    bytes += part.length;
    const earlyMs = ((bytes - pace.start) / pace.rate) * 1000 - (performance.now() - startedAt);
    if (earlyMs > 1) await wait(earlyMs);
  }
}

/** Passes a stream on until `stop` aborts. */
export async function* untilStopped(
  source: AsyncIterable<Buffer>,
  stop: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  for await (const part of source) {
    stop?.throwIfAborted();
    yield part;
  }
}
