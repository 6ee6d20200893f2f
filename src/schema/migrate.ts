import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { runMigrations } from 'graphile-worker';
import type pg from 'pg';
import { openClient } from '../database/connections/open-client.js';
import type { DatabaseTarget } from '../database/connections/target.js';
import { createPlainPool } from '../database/database.js';
import { sha256 } from '../lib/crypto/digests.js';
import { buildSmallIndexes } from './late-indexes.js';
import { compareMigrations, listMigrations, migrationsFolder } from './migrations.js';
import { refuseUnfitDatabase } from './suitability.js';

/** The key of an advisory lock: any fixed number. Instances that start at the same time migrate one after the other. */
const migrationLock = 7_203_415_001;
/**
 * The maximum time that a migration waits for the lock of a table. While it waits, all other statements on this table wait behind it. So
 * with a longer time, every login would wait until a dump ends.
 */
const lockWait = '1s';
/** Milliseconds between two attempts to get a lock. */
const lockRetryPauseMs = 2000;
/** All attempts together take about five minutes. */
const maxAttempts = 100;
/** lock_not_available and deadlock_detected. */
const lockErrorCodes = ['55P03', '40P01'];

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly digest: string;
}

/** The schema cannot be migrated. The message says why and what to do. */
export class MigrationError extends Error {}

/** Milliseconds between two attempts to get the lock of migrations, and between two messages about its holder. */
const migrationLockTimes = { pause: 1000, report: 30_000 };

/** Reports that the migration waits. */
export interface MigrationLog {
  warn(fields: object, message: string): void;
}

/**
 * Applies the pending files of `migrations/` in the order of their names, each in its own transaction. Then it builds the late indexes of
 * small tables, and applies the migrations of the queue.
 * @param folder the migrations, with a `/` at the end
 * @returns the names of the migrations that it applied.
 * @throws UnfitDatabaseError when Postern cannot work with this database
 * @throws MigrationError if the database has other or newer migrations (nothing was changed), if a migration fails (it is rolled back,
 *   earlier ones stay), or if the role lacks the right
 */
export async function migrate(target: DatabaseTarget, log: MigrationLog, folder = migrationsFolder): Promise<string[]> {
  await refuseUnfitDatabase(target);
  const client = await openClient(target, { application_name: 'postern migrate', connectionTimeoutMillis: 10_000 });
  try {
    await lockMigrations(client, log);
    const applied = await applyPending(client, folder);
    await buildSmallIndexes(client);
    await migrateQueue(target);
    return applied;
  } catch (error) {
    throw refusalToMigrate(error);
  } finally {
    await client.end();
  }
}

/**
 * Creates the schema of another database in an empty database, into which the rows of that database are then copied.
 * @param applied the digests of the migrations of the other database, by name
 * @throws MigrationError when this version of Postern does not have these migrations
 */
export async function createSchema(target: DatabaseTarget, applied: ReadonlyMap<string, string>): Promise<void> {
  const migrations = await ownMigrations();
  assertSameHistory(applied, migrations);
  const client = await openClient(target, { application_name: 'postern migrate', connectionTimeoutMillis: 10_000 });
  try {
    await client.query(createMigrationsTable);
    for (const migration of migrations) if (applied.has(migration.name)) await apply(client, migration);
    await buildSmallIndexes(client);
    await migrateQueue(target);
  } finally {
    await client.end();
  }
}

/** insufficient_privilege */
const noRight = '42501';

/** A role that only runs the service cannot change the schema. */
function refusalToMigrate(error: unknown): unknown {
  const cause = error instanceof MigrationError ? error.cause : error;
  if ((cause as pg.DatabaseError | undefined)?.code !== noRight) return error;
  return new MigrationError(
    `The role of DATABASE_URL may not change the schema, which this version needs: run \`postern migrate\` of this version with the role that owns the tables (${(cause as Error).message})`,
    { cause },
  );
}

/** Waits for the lock, and says which connection holds it. The lock ends with the connection. */
async function lockMigrations(client: pg.Client, log: MigrationLog): Promise<void> {
  for (let reportAt = performance.now() + migrationLockTimes.pause; ; await wait(migrationLockTimes.pause)) {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      migrationLock,
    ]);
    if (rows[0]?.locked === true) return;
    if (performance.now() < reportAt) continue;
    reportAt = performance.now() + migrationLockTimes.report;
    log.warn({}, `the start waits for the lock of migrations, which ${await lockHolder(client)}`);
  }
}

async function lockHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string; address: string; since: string; state: string }>(
    `select l.pid, a.application_name as name, coalesce(host(a.client_addr), 'this machine') as address, a.state,
            to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
     from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database where datname = current_database())
       and l.classid = ($1::bigint >> 32)::int::oid and l.objid = ($1::bigint & x'ffffffff'::bigint)::bigint::oid and l.objsubid = 1`,
    [migrationLock],
  );
  const [holder] = rows;
  if (holder === undefined) return 'was held a moment ago';
  const { pid, name, address, since, state } = holder;
  return `connection ${pid} holds: "${name}" from ${address}, connected since ${since}, ${state}. If it is not a start of Postern that migrates, end it with select pg_terminate_backend(${pid})`;
}

const createMigrationsTable = `create table if not exists schema_migrations (
  name text primary key, digest text not null, applied_at timestamptz not null default clock_timestamp()
)`;

async function applyPending(client: pg.Client, folder: string): Promise<string[]> {
  // `create table if not exists` needs the right to create tables, also if the table exists.
  const { rows: found } = await client.query("select where to_regclass('schema_migrations') is null");
  if (found.length > 0) await client.query(createMigrationsTable);
  const { rows } = await client.query<{ name: string; digest: string }>('select name, digest from schema_migrations');
  const appliedDigests = new Map(rows.map((row) => [row.name, row.digest]));
  const migrations = await (folder === migrationsFolder ? ownMigrations() : readMigrations(folder));
  assertSameHistory(appliedDigests, migrations);
  const pending = migrations.filter((migration) => !appliedDigests.has(migration.name));
  for (const migration of pending) await apply(client, migration);
  return pending.map((migration) => migration.name);
}

let ownFiles: Promise<Migration[]> | undefined;

/** The migrations of this version, which a process reads once. */
function ownMigrations(): Promise<Migration[]> {
  ownFiles ??= readMigrations(migrationsFolder).catch((error: unknown) => {
    ownFiles = undefined;
    throw error;
  });
  return ownFiles;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  return Promise.all(
    (await listMigrations(folder)).map(async (name) => {
      const text = await readFile(`${folder}${name}`, 'utf8');
      return { name, text, digest: sha256(text).toString('hex') };
    }),
  );
}

function assertSameHistory(applied: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const { refusal } = compareMigrations(
    [...applied.keys()],
    migrations.map(({ name }) => name),
  );
  if (refusal !== undefined) throw new MigrationError(refusal);
  const changed = migrations.find(({ name, digest }) => (applied.get(name) ?? digest) !== digest);
  if (changed === undefined) return;
  throw new MigrationError(
    `Migration ${changed.name} was changed after it was applied to this database: run the version that applied it`,
  );
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await applyOnce(client, migration);
      return;
    } catch (error) {
      await client.query('rollback');
      if (!lockErrorCodes.includes((error as pg.DatabaseError).code ?? '') || attempt === maxAttempts) {
        const reason = `Migration ${migration.name} failed and was rolled back: ${(error as Error).message}`;
        throw new MigrationError(reason, { cause: error });
      }
      await wait(lockRetryPauseMs);
    }
  }
}

async function applyOnce(client: pg.Client, { name, text, digest }: Migration): Promise<void> {
  await client.query('begin');
  await client.query(`set local lock_timeout = '${lockWait}'`);
  await client.query(text);
  await client.query('insert into schema_migrations (name, digest) values ($1, $2)', [name, digest]);
  await client.query('commit');
}

/** The queue has its own schema, `graphile_worker`. */
async function migrateQueue(target: DatabaseTarget): Promise<void> {
  // The callback ignores errors of connections. If a connection breaks, its query fails, and this function rejects.
  const pool = createPlainPool(target, 1, () => undefined);
  try {
    await runMigrations({ pgPool: pool, schema: 'graphile_worker' });
  } finally {
    await pool.end();
  }
}
