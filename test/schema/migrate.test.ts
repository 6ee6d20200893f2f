import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/schema/migrate.js';
import { migrationsFolder } from '../../src/schema/migrations.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { databaseDigest } from '../support/digests.js';
import { eventually } from '../support/eventually.js';

let db: TestDatabase;
const quiet = { warn: () => undefined };
const clients: pg.Client[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  for (const client of clients) await client.end();
  await db.drop();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ ...db.target });
  clients.push(client);
  await client.connect();
  return client;
}

/** The name of a migration of a later release. */
const next = '9999_next.sql';

/** The migrations of this release and one more. @returns the path of their folder, with a `/` at the end */
async function laterRelease(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-migrations-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(migrationsFolder, folder, { recursive: true });
  await writeFile(join(folder, next), text);
  return `${folder}/`;
}

test('a migration that waits for a table does not block readers, and runs when the table is free', async () => {
  const dump = await connect();
  const reader = await connect();
  await dump.query('begin');
  await dump.query('lock table authentications in access share mode');

  const applied = migrate(db.target, quiet, await laterRelease('alter table authentications add column next text'));
  await eventually('the migration to wait for the table', async () => {
    const { rows } = await reader.query(
      `select 1 from pg_locks join pg_database d on d.oid = database
       where datname = current_database() and relation = 'authentications'::regclass and mode = 'AccessExclusiveLock'
         and not granted`,
    );
    return rows.at(0);
  });
  // Queued behind the migration, which waits for the running dump.
  await reader.query('select count(*) from authentications');
  await dump.query('commit');
  expect(await applied).toEqual([next]);
  await dump.query('delete from schema_migrations where name = $1', [next]);
});

test('a start that waits for the lock of migrations names the connection that holds it', async () => {
  const holder = await connect();
  await holder.query("set application_name = 'a former start'; select pg_advisory_lock(7203415001)");
  onTestFinished(async () => void (await holder.query('select pg_advisory_unlock_all()')));
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  const messages: string[] = [];
  const applied = migrate(db.target, { warn: (_, message) => void messages.push(message) });
  const message = await eventually('the message', async () => messages.at(0));
  expect(message).toMatch(
    new RegExp(`connection ${rows[0]?.pid} holds: "a former start" from (this machine|127\\.0\\.0\\.1),`),
  );
  expect(message).toContain(`pg_terminate_backend(${rows[0]?.pid})`);
  await holder.query('select pg_advisory_unlock(7203415001)');
  expect(await applied).toEqual([]);
});

test('a migration that fails changes nothing, and the next start applies it', async () => {
  const release = await laterRelease(
    `create table later (id uuid); alter table users add constraint later check (username <> 'ada')`,
  );
  const client = await connect();
  await client.query(
    `insert into users (id, username, created_at, updated_at) values (gen_random_uuid(), 'ada', now(), now())`,
  );
  const before = await databaseDigest(db.target);
  await expect(migrate(db.target, quiet, release)).rejects.toThrow(`Migration ${next} failed and was rolled back`);
  expect(await databaseDigest(db.target)).toBe(before);
  await client.query('delete from users');
  expect(await migrate(db.target, quiet, release)).toEqual([next]);
  await client.query(`drop table later; delete from schema_migrations where name = '${next}'`);
});

test('a migration that was changed after it was applied is refused', async () => {
  const client = await connect();
  const name = '0002_sessions.sql';
  const { rows } = await client.query('select digest from schema_migrations where name = $1', [name]);
  const setDigest = (digest: unknown) =>
    client.query('update schema_migrations set digest = $2 where name = $1', [name, digest]);
  await setDigest('other');
  await expect(migrate(db.target, quiet)).rejects.toThrow(`${name} was changed after it was applied`);
  await setDigest(rows[0]?.digest);
  expect(await migrate(db.target, quiet)).toEqual([]);
});

test('a database from before the first release is refused with what to do, and nothing is changed', async () => {
  const former = await createTestDatabase('template template0');
  onTestFinished(() => former.drop());
  const client = new pg.Client({ ...former.target });
  await client.connect();
  await client.query(`create table schema_migrations (name text primary key, digest text not null);
    insert into schema_migrations values ('0001_foundation.sql', 'a'), ('0074_moving_jobs.sql', 'b');
    create table users (id uuid primary key)`);
  await client.end();
  const before = await databaseDigest(former.target);
  const refusal = migrate(former.target, quiet);
  await expect(refusal).rejects.toThrow(/before the first release.* Nothing was changed\. Start with a new database/);
  await expect(refusal).rejects.toThrow('export it first with the version that created it');
  expect(await databaseDigest(former.target)).toBe(before);
});
