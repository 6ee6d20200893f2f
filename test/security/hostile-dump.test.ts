import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ArchiveEntry, textEntry } from '../../src/backups/container/archive.js';
import { findProgram } from '../../src/backups/dumps/programs.js';
import { createKeyId } from '../../src/lib/crypto/secret-keys.js';
import { migrate } from '../../src/schema/migrate.js';
import { forgeBackup } from '../backups/forged-backup.js';
import { type Environment, runCommand, temporaryFolder } from '../cli/command.js';
import {
  createServerFolder,
  type PostgresServer,
  type ServerFolder,
  startPrimary,
} from '../support/fault-injection/postgres.js';

// The attacker of these tests can create objects in the database that is backed up, for example with a stolen DATABASE_URL, or
// can write to the store of the backups. They want to run commands on the machine that verifies or restores the backup.

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const secretKey = 's'.repeat(40);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let servers: ServerFolder;
let server: PostgresServer;
/** Each account of the system can write here. */
let markers: string;

const pathTo = (name: string) => join(folder.path, name);
const urlOf = (database: string, role = 'postern') =>
  `postgres://${role}@127.0.0.1:${server.port}/${database}?sslmode=disable`;

function postern(line: string, database: string, more: Environment = {}) {
  const env = { DATABASE_URL: urlOf(database), DATA_DIR: pathTo('data'), SECRET_KEY: secretKey, ...more };
  return runCommand(line.split(' '), env);
}

let databases = 0;
async function emptyDatabase(): Promise<string> {
  databases += 1;
  const name = `hostile_${databases}`;
  await server.query(`create database ${name} owner postern template template0`);
  return name;
}

/** A database of Postern with more objects. @param as the role that creates them */
async function databaseWith(objects: string, as: 'postern' | 'postgres'): Promise<string> {
  const database = await emptyDatabase();
  await migrate(urlOf(database), silent);
  await server.query(`set role ${as}; ${objects}`, database);
  return database;
}

async function backupOf(database: string): Promise<string> {
  const path = pathTo(`${database}.tar`);
  expect(await postern(`backup create --to ${path}`, database)).toMatchObject({ code: 0, stderr: '' });
  return path;
}

/** A function that tries everything that would give its caller the machine, or the rights of a superuser. */
const attack = () => {
  const tries = [
    `copy (select 1) to program 'touch ${markers}/program'`,
    `copy (select 1) to '${markers}/file'`,
    `perform lo_export(lo_from_bytea(0, 'x'), '${markers}/object')`,
    `execute 'alter role ' || quote_ident(current_user) || ' superuser'`,
    `reset role; copy (select 1) to program 'touch ${markers}/reset'`,
    `set session authorization postern; copy (select 1) to program 'touch ${markers}/session'`,
    `set role postgres; copy (select 1) to program 'touch ${markers}/role'`,
    `create extension file_fdw; create extension dblink`,
    `create extension adminpack`,
  ];
  const blocks = tries.map((text) => `begin ${text}; exception when others then null; end;`);
  return `create function public.attack() returns int language plpgsql as $$ begin ${blocks.join('\n')} return 1; end $$;
    create function public.hidden(n int) returns int language plpgsql immutable as $$ begin perform public.attack(); return n; end $$;`;
};

/** Objects whose functions run when a database is restored, analyzed, or read. */
const objects = `
  create table public.rows (n int);
  insert into public.rows values (1), (2), (3);
  create index on public.rows (public.hidden(n));
  create statistics public.more on (public.hidden(n)), n from public.rows;
  alter table public.rows add check (public.hidden(n) > 0);
  create table public.computed (n int, m int generated always as (public.hidden(n)) stored);
  insert into public.computed values (1);
  create domain public.checked as int check (public.hidden(value) > 0);
  create table public.typed (n public.checked);
  insert into public.typed values (1);
  create materialized view public.view as select public.attack();
  create rule reading as on insert to public.rows do also select public.attack();
  alter table public.rows enable row level security;
  create policy reading on public.rows using (public.hidden(n) > 0);
  create table graphile_worker.more (n int);
  insert into graphile_worker.more values (1);
  create index on graphile_worker.more (public.hidden(n));
  create function public.count(text) returns bigint language sql as 'select public.attack()::bigint';
  create function public.bt_index_check(regclass, boolean) returns void language sql as 'select public.attack()';
  create operator public.|| (function = public.joined, leftarg = text, rightarg = name);
  create operator public.= (function = public.same, leftarg = "char", rightarg = text);`;
const operators = `
  create function public.joined(text, name) returns text language sql as 'select public.attack()::text';
  create function public.same("char", text) returns boolean language sql as 'select public.attack() = 1';`;

beforeAll(async () => {
  folder = await temporaryFolder();
  await chmod(folder.path, 0o755);
  markers = pathTo('markers');
  servers = await createServerFolder();
  server = await startPrimary(servers);
  await server.query('create role postern login');
  await server.query('create role verifier login createdb');
  await mkdir(pathTo('data'));
});
afterAll(async () => {
  await servers?.remove();
  await folder?.remove();
});
beforeEach(async () => {
  await mkdir(markers, { recursive: true });
  await chmod(markers, 0o777);
});

const isSuperuser = () => server.query("select rolsuper from pg_roles where rolname in ('postern', 'verifier')");
const nobody = [{ rolsuper: false }, { rolsuper: false }];

describe('a dump of a database in which somebody has hidden functions', () => {
  let database: string;
  let backup: string;
  beforeAll(async () => {
    await mkdir(markers, { recursive: true });
    database = await databaseWith(`${attack()} ${operators} ${objects}`, 'postern');
    backup = await backupOf(database);
  });

  it('shows that the functions run with the rights of the reader: as superuser they would succeed', async () => {
    await server.query('select public.hidden(1)', database);
    expect(await readdir(markers)).toContain('program');
    await server.query('alter role postern nosuperuser');
    await promisify(execFile)('rm', ['-r', markers]);
  });

  it('is verified by a role without rights, in the embedded server', async () => {
    const { code, stdout, stderr } = await postern(`backup verify ${backup}`, database);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/is good: .* [1-9]\d+ intact indexes/);
    expect(await readdir(markers)).toEqual([]);
    expect(await readdir(pathTo('data'))).toEqual([]);
  });

  it('is verified by a role of BACKUP_VERIFY_URL that may only create databases, which says what it cannot check', async () => {
    const url = urlOf('postgres', 'verifier');
    const { code, stdout, stderr } = await postern(`backup verify ${backup}`, database, { BACKUP_VERIFY_URL: url });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/\d+ rows\. Its indexes were not checked: /);
    expect([await readdir(markers), await isSuperuser()]).toEqual([[], nobody]);
    expect(await server.query("select datname from pg_database where datname like 'postern_verify_%'")).toEqual([]);
  });

  it('is restored with the rights of the role of DATABASE_URL', async () => {
    const copy = await emptyDatabase();
    const { code, stderr } = await postern(`backup restore ${backup} --to ${pathTo('restored')}`, copy);
    expect([code, stderr]).toEqual([0, '']);
    expect([await readdir(markers), await isSuperuser()]).toEqual([[], nobody]);
  });
});

describe('a dump with objects that only a superuser can create', () => {
  it.each([
    ['an event trigger', 'create event trigger attack on ddl_command_end execute function public.trigger()'],
    ['an extension that reads files', 'create extension file_fdw'],
    ['a foreign server', `create extension dblink; create server other foreign data wrapper dblink_fdw`],
    ['a function in C', `create function public.c() returns int language c as '$libdir/dblink', 'dblink_connect'`],
    ['a publication of all tables', 'create publication everything for all tables'],
    ['an access method', 'create access method other type table handler heap_tableam_handler'],
    ['a template of text search', 'create text search template other (lexize = dsimple_lexize)'],
    [
      'an operator class',
      'create operator class public.other for type int using btree as operator 1 <, function 1 btint4cmp(int, int)',
    ],
    ['a cast of built-in types', 'create cast (text as bytea) with inout as implicit'],
  ])('is refused with %s, at verify and restore, and nothing of it runs', async (_name, statement) => {
    const more = `create function public.trigger() returns event_trigger language plpgsql as
        $$ begin perform public.attack(); end $$;`;
    const database = await databaseWith(`${attack()} ${more} ${statement}`, 'postgres');
    const backup = await backupOf(database).finally(() => promisify(execFile)('rm', ['-rf', markers]));
    await mkdir(markers);
    await chmod(markers, 0o777);
    const copy = await emptyDatabase();
    for (const line of [`backup verify ${backup}`, `backup restore ${backup} --to ${pathTo('never')}`]) {
      const { code, stderr } = await postern(line, copy);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/pg_restore failed .*(?:permission denied|must be (?:superuser|owner))/),
      ]);
    }
    expect([await readdir(markers), existsSync(pathTo('never'))]).toEqual([[], false]);
    const [left] = await server.query(
      "select count(*)::int as tables from pg_tables where schemaname = 'public'",
      copy,
    );
    expect(left).toEqual({ tables: 0 });
  });
});

it('a dump whose names contain line breaks, commands of psql and SQL runs none of them as another role', async () => {
  const evil = (what: string) =>
    [
      `${what}`,
      `\\! touch ${markers}/psql`,
      `copy (select 1) to program 'touch ${markers}/name'; alter role postern superuser;`,
      '\\connect postgres',
      '--',
    ].join('\n');
  // PostgreSQL cuts them after 63 bytes.
  const quoted = (what: string) => `"${evil(what)}"`;
  const database = await databaseWith(
    `create schema "${'s\n\\! touch x'}";
     create table public.${quoted('t')} (n int);
     comment on table public.users is '${evil('c').replaceAll("'", "''")}';
     create function public.f() returns text language sql as $$ select '${evil('f').replaceAll("'", "''")}' $$;
     alter function public.f() set search_path = public, ${quoted('p')};
     create view public.v as select 1 as ${quoted('v')};`,
    'postern',
  );
  const backup = await backupOf(database);
  const copy = await emptyDatabase();
  for (const line of [`backup verify ${backup}`, `backup restore ${backup} --to ${pathTo('names')}`]) {
    const { code } = await postern(line, copy);
    // Programs of newer versions refuse such names.
    expect([0, 1]).toContain(code);
    expect([await readdir(markers), await isSuperuser()]).toEqual([[], nobody]);
  }
});

describe('a dump that somebody has put into a backup', () => {
  let backup: string;
  let database: string;
  beforeAll(async () => {
    database = await databaseWith('select 1', 'postern');
    backup = await backupOf(database);
  });

  /** Another dump in place of that of the backup. */
  async function dumpOf(source: string): Promise<ArchiveEntry> {
    const { command } = await findProgram('pg_dump', 15, undefined);
    const args = ['--format=custom', '-h', '127.0.0.1', '-p', `${server.port}`, '-U', 'postgres', source];
    const { stdout } = await promisify(execFile)(command, args, { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 });
    return { path: 'dump/000001', type: 'file', size: stdout.length, mode: 0o600, modifiedAt: 0, content: [stdout] };
  }

  it('is refused, and does no harm with --unauthenticated, whoever owns its objects', async () => {
    const hostile = await databaseWith(
      `${attack()} ${operators} ${objects} alter materialized view public.view owner to postgres;
       create view public.definer as select public.attack(); alter function public.attack() security definer;`,
      'postern',
    );
    await server.query('alter function public.hidden(int) owner to postgres', hostile);
    const forged = pathTo('forged.tar');
    await forgeBackup(backup, forged, { adds: [await dumpOf(hostile)] });
    await promisify(execFile)('rm', ['-rf', markers]);
    await mkdir(markers);
    await chmod(markers, 0o777);
    const copy = await emptyDatabase();
    for (const line of [`backup verify ${forged}`, `backup restore ${forged} --to ${pathTo('forged')}`]) {
      expect(await postern(line, copy)).toMatchObject({ code: 1, stderr: expect.stringContaining('no signature') });
      await postern(`${line} --unauthenticated`, copy);
      expect([await readdir(markers), await isSuperuser()]).toEqual([[], nobody]);
    }
  });

  it.each([
    [
      'a script of psql',
      () => Buffer.from(`\\! touch ${markers}/script\ncopy (select 1) to program 'touch ${markers}/script';\n`),
    ],
    ['the head of a dump with nothing behind it', () => Buffer.from('PGDMP\x01\x0f\x00\x04\x08\x01', 'latin1')],
    [
      'a dump that claims 2^31 objects',
      () => Buffer.concat([Buffer.from('PGDMP\x01\x0f\x00\x04\x08\x01\x00', 'latin1'), Buffer.alloc(64, 0xff)]),
    ],
    [
      'an archive of tar with a script',
      () => Buffer.concat([Buffer.from(`${'restore.sql'.padEnd(257, '\0')}ustar\x0000`, 'latin1'), Buffer.alloc(2048)]),
    ],
    ['nothing', () => Buffer.alloc(0)],
  ])('that is %s is refused even if its signature is right, and leaves the database as it was', async (_name, make) => {
    const forged = pathTo('no-dump.tar');
    const signedWith = { id: createKeyId(secretKey), key: secretKey };
    const content = make();
    const entry: ArchiveEntry = {
      path: 'dump/000001',
      type: 'file',
      size: content.length,
      mode: 0o600,
      modifiedAt: 0,
      content: [content],
    };
    await forgeBackup(backup, forged, { adds: [entry], signedWith });
    const copy = await emptyDatabase();
    const tables = "select count(*)::int as n from pg_tables where schemaname = 'public'";
    for (const line of [`backup verify ${forged}`, `backup restore ${forged} --to ${pathTo('never')}`]) {
      expect(await postern(line, copy)).toMatchObject({ code: 1 });
      expect([await readdir(markers), existsSync(pathTo('never')), await server.query(tables, copy)]).toEqual([
        [],
        false,
        [{ n: 0 }],
      ]);
    }
    // The backup itself is good.
    expect(await postern(`backup restore ${backup} --to ${pathTo(`good-${copy}`)}`, copy)).toMatchObject({ code: 0 });
  });

  it.each([
    'dump/../../up',
    'dump/000001/x',
    'dump/1',
    'dump/0000001',
    '../up',
    '/etc/up',
    'dump\\000001',
    'postgres/postgresql.conf',
    'images/../../up',
    'images/../secret-key',
  ])('is refused with the path %s even if its signature is right, before it touches the database', async (path) => {
    const forged = pathTo('path.tar');
    const signedWith = { id: createKeyId(secretKey), key: secretKey };
    await forgeBackup(backup, forged, { adds: [textEntry(path, 'x')], signedWith });
    const copy = await emptyDatabase();
    const before = await readdir(folder.path);
    for (const line of [`backup verify ${forged}`, `backup restore ${forged} --to ${pathTo('never')}`]) {
      const { code, stderr } = await postern(line, copy);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`the unexpected file ${path}`)]);
    }
    expect(await readdir(folder.path)).toEqual(before);
    expect(await server.query("select count(*)::int as n from pg_tables where schemaname = 'public'", copy)).toEqual([
      { n: 0 },
    ]);
  });
});
