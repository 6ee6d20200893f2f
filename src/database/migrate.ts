import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { sha256 } from '../lib/crypto/digests.js';
import { connectionFields, createPlainPool, type DatabaseTarget } from './database.js';
import { buildSmallIndexes } from './late-indexes.js';

const folder = fileURLToPath(new URL('../../migrations/', import.meta.url));
/** The key of an advisory lock: any fixed number. Instances that start together run one after the other. */
const migrationLock = 7_203_415_001;
/**
 * The maximum time that a migration waits for the lock of a table. All other statements on the table wait behind the
 * migration: during a dump, every login would wait until the dump ends.
 */
const lockWait = '1s';
/** Milliseconds between two attempts to get a lock. */
const pauseBetweenTries = 2000;
/** About five minutes. */
const maxTries = 100;
/** lock_not_available and deadlock_detected. */
const lockFailures = ['55P03', '40P01'];
/** PostgreSQL 15, as server_version_num. */
const minServerVersion = 150_000;

/**
 * SHA-256 in hex of migrations that a later release changed. A later migration brings a database with the former version to
 * the same schema.
 */
const formerDigests = new Map([
  // Migration 0015 removes the difference.
  ['0013_session_changes.sql', 'a2d67676bc9274e90fd34e86c20ff184903d3355d25af9004fce9c2c456a1427'],
]);

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly digest: string;
}

/** The schema cannot be migrated. The message says why and what to do. */
export class MigrationError extends Error {}

/**
 * Applies every pending file of `migrations/` in the order of their names, each in its own transaction, then the
 * migrations of the queue. It also builds the late indexes of small tables.
 * @returns the names of the migrations that it applied.
 * @throws MigrationError when the server is too old, or the database has other or newer migrations than this version.
 */
export async function migrate(target: DatabaseTarget): Promise<string[]> {
  const client = new pg.Client({
    ...connectionFields(target),
    application_name: 'postern migrate',
    connectionTimeoutMillis: 10_000,
  });
  await client.connect();
  try {
    await refuseOldServer(client);
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    const applied = await applyPending(client);
    await buildSmallIndexes(client);
    await migrateQueue(target);
    return applied;
  } finally {
    await client.end();
  }
}

async function refuseOldServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; shown: string }>(
    "select current_setting('server_version_num')::int as version, current_setting('server_version') as shown",
  );
  const [server] = rows;
  if (server !== undefined && server.version < minServerVersion) {
    throw new MigrationError(`PostgreSQL ${server.shown} is too old: Postern needs 15 or later`);
  }
}

async function applyPending(client: pg.Client): Promise<string[]> {
  await client.query(`create table if not exists schema_migrations (
    name text primary key, digest text not null, applied_at timestamptz not null default clock_timestamp()
  )`);
  const { rows } = await client.query<{ name: string; digest: string }>('select name, digest from schema_migrations');
  const known = new Map(rows.map((row) => [row.name, row.digest]));
  const migrations = await readMigrations();
  refuseOtherHistory(known, migrations);
  const pending = migrations.filter((migration) => !known.has(migration.name));
  for (const migration of pending) await apply(client, migration);
  return pending.map((migration) => migration.name);
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(`${folder}${name}`, 'utf8');
      return { name, text, digest: sha256(text).toString('hex') };
    }),
  );
}

function refuseOtherHistory(known: ReadonlyMap<string, string>, migrations: readonly Migration[]): void {
  const own = new Map(migrations.map((migration) => [migration.name, migration.digest]));
  for (const [name, digest] of known) {
    if (!own.has(name)) {
      throw new MigrationError(
        `The database has the migration ${name}, which this version does not know: run a newer Postern`,
      );
    }
    if (![own.get(name), formerDigests.get(name)].includes(digest)) {
      throw new MigrationError(`Migration ${name} was changed after it was applied`);
    }
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await applyOnce(client, migration);
      return;
    } catch (error) {
      await client.query('rollback');
      if (!lockFailures.includes((error as pg.DatabaseError).code ?? '') || tries === maxTries) {
        const reason = `Migration ${migration.name} failed and was rolled back: ${(error as Error).message}`;
        throw new MigrationError(reason, { cause: error });
      }
      await wait(pauseBetweenTries);
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
  // A connection that breaks fails its query too, which reports the error.
  const pool = createPlainPool(target, 1, () => undefined);
  try {
    await runMigrations({ pgPool: pool, schema: 'graphile_worker' });
  } finally {
    await pool.end();
  }
}
