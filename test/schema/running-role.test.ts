import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { buildIndexes } from '../../src/schema/late-indexes.js';
import { migrate } from '../../src/schema/migrate.js';
import { runCommand } from '../cli/command.js';
import { startTestApp } from '../support/app.js';
import { createTestDatabase, type TestDatabase, withRole } from '../support/database.js';

const role = `postern_app_${randomBytes(4).toString('hex')}`;
let db: TestDatabase;
let owner: pg.Client;
let running: pg.Client;
const created: { name: string; password: string | null }[] = [];
const env = (url: string) => ({ DATABASE_URL: url, SECRET_KEY: 'k'.repeat(64), DATA_DIR: '/nonexistent' });
const createRole = () => runCommand(['database', 'create-role', role, '--json'], env(db.url));

beforeAll(async () => {
  db = await createTestDatabase();
  created.push(JSON.parse((await createRole()).stdout));
  owner = new pg.Client({ ...db.target });
  running = new pg.Client({ connectionString: withRole(db.url, role) });
  await Promise.all([owner.connect(), running.connect()]);
});
afterEach(() => running.query('rollback'));
afterAll(async () => {
  await running.end();
  await owner.query(`drop owned by ${role}`);
  await owner.end();
  await db.drop();
});

describe('the role for running', () => {
  it.each([
    'create table extra (id int)',
    'create temporary table extra (id int)',
    'create schema extra',
    'create view extra as select 1',
    'create function extra() returns int language sql as $$ select 1 $$',
    'create index extra on users (name)',
    'create extension citext',
    'create role extra',
    'alter table users add column extra text',
    'alter table users disable trigger all',
    'alter table graphile_worker._private_jobs disable row level security',
    'alter function db_now() rename to extra',
    'drop table events',
    'drop function db_now()',
    'drop trigger imported_hash_gone on users',
    'drop schema graphile_worker cascade',
    'truncate events',
    'update schema_migrations set digest = name',
    'delete from schema_migrations',
    "insert into schema_migrations (name, digest) values ('x', 'y')",
    "set session_replication_role = 'replica'",
  ])('cannot run: %s', async (statement) => {
    await running.query('begin');
    await expect(running.query(statement)).rejects.toMatchObject({ code: '42501' });
  });

  it('reads and writes each table except that of migrations', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('public', 'graphile_worker') and c.relkind in ('r', 'p')`,
    );
    expect(rows.length).toBeGreaterThan(50);
    for (const { name } of rows) {
      await running.query('begin');
      await running.query(`select count(*) from ${name}`);
      if (!name.endsWith('migrations')) await running.query(`delete from ${name} where false`);
      await running.query('rollback');
    }
  });

  it('gets a password that PostgreSQL accepts and does not store', async () => {
    expect(created[0]).toEqual({ name: role, password: expect.stringMatching(/^[\w-]{32}$/) });
    const { rows } = await owner.query<{ verifier: string }>(
      'select rolpassword as verifier from pg_authid where rolname = $1',
      [role],
    );
    // PostgreSQL computes its own verifier with another salt. Only the form can be compared.
    expect(rows[0]?.verifier).toMatch(/^SCRAM-SHA-256\$4096:[\w+/]{22}==\$[\w+/]{43}=:[\w+/]{43}=$/);
  });

  it('keeps its password when the command gives it its rights again', async () => {
    await owner.query(`revoke all on users from ${role}`);
    await owner.query('drop policy running_role on graphile_worker._private_jobs');
    const doctor = () => runCommand(['doctor'], { ...env(withRole(db.url, role)) });
    expect((await doctor()).stdout).toMatch(
      new RegExp(
        `FAIL {2}database role: ${role} has no rights on graphile_worker._private_jobs, users: run .*create-role ${role}`,
      ),
    );
    expect(JSON.parse((await createRole()).stdout)).toEqual({ name: role, password: null });
    expect((await doctor()).stdout).toContain(`ok    database role: ${role} reads and writes rows, and cannot change`);
    expect((await runCommand(['doctor'], env(db.url))).stdout).toMatch(/ok {4}database role: .* can change the schema/);
  });

  it('gets rights on the tables of later migrations', async () => {
    await owner.query('create table later (id int)');
    await running.query('insert into later (id) values (1)');
    await owner.query('drop table later');
  });

  it('is refused for the embedded database, for a wrong name and before the first migration', async () => {
    const embedded = await runCommand(['database', 'create-role', role], { SECRET_KEY: 'k'.repeat(64) });
    expect([embedded.code, embedded.stderr]).toEqual([1, expect.stringContaining('The embedded database')]);
    expect((await runCommand(['database', 'create-role', 'Robert"; --'], env(db.url))).code).toBe(2);
    const empty = await createTestDatabase("template template0 encoding 'UTF8'");
    try {
      const early = await runCommand(['database', 'create-role', role], env(empty.url));
      expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('run `postern migrate` first')]);
    } finally {
      await empty.drop();
    }
  });
});

describe('with the role for running', () => {
  const quiet = { warn: () => undefined };

  it('a start needs no rights if nothing is pending, and says what to do if something is', async () => {
    expect(await migrate(withRole(db.url, role), quiet)).toEqual([]);
    const { rows } = await owner.query(
      'delete from schema_migrations where name = (select max(name) from schema_migrations) returning *',
    );
    const [last] = rows;
    await expect(migrate(withRole(db.url, role), quiet)).rejects.toThrow(
      /run `postern migrate` of this version with the role/,
    );
    await owner.query('insert into schema_migrations select * from json_populate_record(null::schema_migrations, $1)', [
      JSON.stringify(last),
    ]);
    expect(await migrate(withRole(db.url, role), quiet)).toEqual([]);
  });

  it('indexes that are missing are built by `postern migrate` of the owner', async () => {
    await owner.query('drop index outbox_sms_codes');
    await expect(buildIndexes(withRole(db.url, role), new AbortController().signal)).rejects.toMatchObject({
      code: '42501',
    });
    expect((await runCommand(['migrate'], env(db.url))).code).toBe(0);
    const built = await buildIndexes(withRole(db.url, role), new AbortController().signal);
    expect(built).toEqual({ built: [], missing: [] });
  });
});

it('the services of all tests run with such a role', async () => {
  const postern = await startTestApp();
  try {
    const { body } = await postern.api<{ findings: { what: string; detail: string }[] }>('GET', '/admin/v1/system', {
      bearer: postern.adminKey,
    });
    expect(body.findings.find(({ what }) => what === 'database role')?.detail).toBe(
      `${inject('runningRole')} reads and writes rows, and cannot change the schema`,
    );
  } finally {
    await postern.close();
  }
});
