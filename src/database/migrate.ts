import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { sha256 } from '../lib/sha256.js';
import { connectionFields, createPlainPool, type DatabaseTarget } from './database.js';

const folder = fileURLToPath(new URL('../../migrations/', import.meta.url));
/** Any fixed number: instances that start together wait for each other here. */
const migrationLock = 7_203_415_001;
/**
 * How long a migration waits for a table, and for how long it then lets go. Whoever asks for the table queues behind it:
 * behind a dump, every login would wait until that is done.
 */
const lockWait = '1s';
/** Milliseconds. */
const pauseBetweenTries = 2000;
/** About five minutes. */
const mostTries = 100;
/** Refused a lock, or chosen to give way in a deadlock. */
const lockFailures = ['55P03', '40P01'];
/** PostgreSQL 15, as server_version_num. */
const oldestVersion = 150_000;

/**
 * What migrations were in an earlier release, as SHA-256 in hex: a database that has them is brought by a later one to
 * what the others are.
 */
const formerDigests = new Map([
  // 0015 tells the difference.
  ['0013_session_changes.sql', 'a2d67676bc9274e90fd34e86c20ff184903d3355d25af9004fce9c2c456a1427'],
]);

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly digest: string;
}

/** The schema cannot be brought up to date; the message says why and what to do. */
export class MigrationError extends Error {}

/**
 * Brings the schema up to date: every file of `migrations/` once, in order of name, each in its own transaction; then
 * the queue's own. Instances that start together take turns.
 * @returns the names of the migrations that were applied now.
 * @throws MigrationError when the server is too old, or the database holds another or a newer history than this code.
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
  if (server !== undefined && server.version < oldestVersion) {
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
    if (!own.has(name))
      throw new MigrationError(`The database knows migration ${name}, this version does not: run a newer Postern`);
    if (![own.get(name), formerDigests.get(name)].includes(digest))
      throw new MigrationError(`Migration ${name} was changed after it was applied`);
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await applyOnce(client, migration);
      return;
    } catch (error) {
      await client.query('rollback');
      if (!lockFailures.includes((error as pg.DatabaseError).code ?? '') || tries === mostTries) {
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

/** The queue brings its own schema, `graphile_worker`. */
async function migrateQueue(target: DatabaseTarget): Promise<void> {
  // A connection that breaks fails its query too, which is where it is told.
  const pool = createPlainPool(target, 1, () => undefined);
  try {
    await runMigrations({ pgPool: pool, schema: 'graphile_worker' });
  } finally {
    await pool.end();
  }
}
