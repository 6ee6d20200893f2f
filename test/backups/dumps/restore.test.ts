import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '../../../src/backups/dumps/programs.js';
import { migrate } from '../../../src/schema/migrate.js';
import { type Environment, runCommand, temporaryFolder } from '../../cli/command.js';
import {
  createServerFolder,
  type PostgresServer,
  type ServerFolder,
  startPrimary,
} from '../../support/fault-injection/postgres.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const password = 'p:a\\ss\' w"ord';
const passphrase = 'correct horse battery';
const image = join('images', 'ab', 'card.jpg');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let servers: ServerFolder;
let server: PostgresServer;
/** A backup of the database `postern`. */
let backup: string;
const pathTo = (name: string) => join(folder.path, name);

const urlOf = (database: string) =>
  `postgres://postern:${encodeURIComponent(password)}@127.0.0.1:${server.port}/${database}?sslmode=disable`;

/** Runs a command on a database of the server. */
function postern(line: string, database = 'postern', more: Environment = {}) {
  const env = { DATABASE_URL: urlOf(database), DATA_DIR: pathTo('data'), SECRET_KEY: 's'.repeat(40), ...more };
  return runCommand(line.split(' '), env);
}

let databases = 0;
/** Creates an empty database. */
async function emptyDatabase(): Promise<string> {
  databases += 1;
  const name = `copy_${databases}`;
  await server.query(`create database ${name} owner postern template template0`);
  return name;
}

const tablesIn = async (database: string) => {
  const [row] = await server.query(
    "select count(*)::int as tables from pg_tables where schemaname = 'public'",
    database,
  );
  return row?.tables;
};

/** A folder with a script in place of pg_dump or pg_restore. `$REAL` is the program. */
async function programs(name: string, script: string): Promise<string> {
  const path = pathTo(name);
  await mkdir(path);
  for (const program of ['pg_dump', 'pg_restore'] as const) {
    const { command } = await findProgram(program, 15, undefined);
    await writeFile(
      join(path, program),
      `#!/bin/sh\nREAL=${command}\nif [ "$1" = --version ]; then exec "$REAL" --version; fi\n${script}\n`,
    );
    await chmod(join(path, program), 0o755);
  }
  return path;
}

beforeAll(async () => {
  folder = await temporaryFolder();
  servers = await createServerFolder();
  server = await startPrimary(servers);
  await server.query(`create role postern login password '${password.replaceAll("'", "''")}'`);
  await server.query('alter database postern owner to postern');
  const rules = join(servers.path, 'primary', 'pg_hba.conf');
  await writeFile(rules, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n');
  await server.query('select pg_reload_conf()');
  await migrate(urlOf('postern'), silent);
  await server.query('create table kept as select n from generate_series(1, 5000) n', 'postern');
  await server.query('alter table kept owner to postern', 'postern');
  await mkdir(pathTo('data/images/ab'), { recursive: true });
  await writeFile(pathTo(`data/${image}`), 'a picture');
  backup = pathTo('first.tar');
  expect(await postern(`backup create --to ${backup} --with-secret-key`)).toMatchObject({ code: 0, stderr: '' });
});
afterAll(async () => {
  await servers?.remove();
  await folder?.remove();
});

describe('a backup with pg_dump', () => {
  it('is verified in a temporary server, with exact counts', async () => {
    const { code, stdout, stderr } = await postern(`backup verify ${backup}`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/is good: the database \d+\.\d+ of .+, \d+ tables, \d+ rows and \d+ intact indexes/);
    expect(existsSync(pathTo('data'))).toBe(true);
  });

  it('is verified in a new database of BACKUP_VERIFY_URL, which is dropped', async () => {
    const url = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
    expect(await postern(`backup verify ${backup}`, 'postern', { BACKUP_VERIFY_URL: url })).toMatchObject({ code: 0 });
    expect(await server.query("select datname from pg_database where datname like 'postern_verify_%'")).toEqual([]);
  });

  it('is restored into an empty database, with the images in a new folder', async () => {
    const database = await emptyDatabase();
    const { code, stdout, stderr } = await postern(`backup restore ${backup} --to ${pathTo('restored')}`, database);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('to the database of DATABASE_URL, and its images to');
    expect(await server.query('select count(*)::int as rows from kept', database)).toEqual([{ rows: 5000 }]);
    expect(await readFile(join(pathTo('restored'), image), 'utf8')).toBe('a picture');
    expect(await readFile(join(pathTo('restored'), 'secret-key'), 'utf8')).toBe(`${'s'.repeat(40)}\n`);
    expect(existsSync(join(pathTo('restored'), 'dump'))).toBe(false);
    // The copy is a database of Postern: its schema is complete, and it can be backed up.
    expect(await postern('doctor', database)).toMatchObject({
      stdout: expect.stringContaining('migrations: all applied'),
    });
    expect(await postern(`backup create --to ${pathTo('of-copy.tar')}`, database)).toMatchObject({ code: 0 });
  });

  it('is made by the role for running, with the rows of the queue, and restored where this role does not exist', async () => {
    await server.query('alter role postern createrole');
    await server.query("select graphile_worker.add_job('none')", 'postern');
    const role = await postern('database create-role postern_app --json');
    const { password: own } = JSON.parse(role.stdout) as { password: string };
    // The password that was shown logs in.
    const url = urlOf('postern').replace(/\/\/.*@/, `//postern_app:${own}@`);
    const made = await postern(`backup create --to ${pathTo('app.tar')}`, 'postern', { DATABASE_URL: url });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    await server.query('drop owned by postern_app', 'postern');
    await server.query('drop role postern_app');
    const database = await emptyDatabase();
    const restored = await postern(`backup restore ${pathTo('app.tar')} --to ${pathTo('app')}`, database);
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    const jobs = "select count(*)::int as jobs from graphile_worker.jobs where task_identifier = 'none'";
    expect(await server.query(jobs, database)).toEqual([{ jobs: 1 }]);
    expect(await postern('database create-role postern_app', database)).toMatchObject({ code: 0 });
  });

  it('that another key has signed is refused before any SQL of it runs', async () => {
    const database = await emptyDatabase();
    const marker = pathTo('ran');
    const spy = { BACKUP_PROGRAMS: await programs('spies', `touch ${marker}; exec "$REAL" "$@"`) };
    for (const line of [`backup verify ${backup}`, `backup restore ${backup} --to ${pathTo('foreign')}`]) {
      const foreign = await postern(line, database, { ...spy, SECRET_KEY: 'o'.repeat(40) });
      expect([foreign.code, foreign.stderr]).toEqual([
        1,
        expect.stringContaining('origin of the backup cannot be checked'),
      ]);
      const plain = await postern(line, database, { ...spy, BACKUP_PASSPHRASE: passphrase });
      expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining('is not encrypted')]);
    }
    expect(existsSync(marker)).toBe(false);
    expect(await tablesIn(database)).toBe(0);
    const own = await postern(`backup restore ${backup} --to ${pathTo('own')}`, database, spy);
    expect([own.code, existsSync(marker)]).toEqual([0, true]);
  });

  it('contains all writes that were acknowledged before it began, and no part of a transaction', async () => {
    await server.query('create table pairs (value int)', 'postern');
    await server.query('alter table pairs owner to postern', 'postern');
    let acknowledged = 0;
    let isEnded = false;
    const load = (async () => {
      while (!isEnded) {
        await server.query(`insert into pairs values (${acknowledged}), (${acknowledged})`, 'postern');
        acknowledged += 1;
      }
    })();
    const before = acknowledged;
    expect(await postern(`backup create --to ${pathTo('loaded.tar')}`)).toMatchObject({ code: 0 });
    const after = acknowledged + 1;
    isEnded = true;
    await load;
    const database = await emptyDatabase();
    expect(await postern(`backup restore ${pathTo('loaded.tar')} --to ${pathTo('loaded')}`, database)).toMatchObject({
      code: 0,
    });
    const values = (await server.query('select value from pairs order by value', database)).map(({ value }) => value);
    expect(values).toEqual(Array.from({ length: values.length }, (_, index) => Math.floor(index / 2)));
    expect(values.length).toBeGreaterThanOrEqual(2 * before);
    expect(values.length).toBeLessThanOrEqual(2 * after);
  });

  it('shows the password to nobody', async () => {
    const seen = pathTo('seen');
    const folderOfPrograms = await programs('watched', `cat /proc/$$/cmdline >>${seen}; exec "$REAL" "$@"`);
    const more = { BACKUP_PROGRAMS: folderOfPrograms };
    expect(await postern(`backup create --to ${pathTo('watched.tar')}`, 'postern', more)).toMatchObject({ code: 0 });
    const arguments_ = await readFile(seen, 'utf8');
    expect(arguments_).toContain("sslmode='disable'");
    for (const part of [password, encodeURIComponent(password), 'w"ord', 'w%22ord']) {
      expect(arguments_).not.toContain(part);
      expect((await readFile(pathTo('watched.tar'))).includes(part)).toBe(false);
    }
  });

  it('is reported as impossible by the doctor if pg_dump is missing', async () => {
    await mkdir(pathTo('no-programs'));
    const place = { BACKUP_TO: pathTo('backups') };
    const without = await postern('doctor', 'postern', { ...place, BACKUP_PROGRAMS: pathTo('no-programs') });
    expect(without).toMatchObject({ code: 1, stdout: expect.stringMatching(/FAIL +backups: .*need pg_dump/) });
    expect((await postern('doctor', 'postern', place)).stdout).toMatch(/ok +backups: .*pg_dump 15\.\S+ makes them/);
  });

  it('that fails is recorded with its reason, and leaves no file', async () => {
    const more = { BACKUP_PROGRAMS: await programs('failing', 'echo "pg_dump: error: the reason" >&2; exit 3') };
    const { code, stderr } = await postern(`backup create --to ${pathTo('failed.tar')}`, 'postern', more);
    expect([code, stderr]).toEqual([1, expect.stringContaining('failed (3): pg_dump: error: the reason')]);
    expect(existsSync(pathTo('failed.tar'))).toBe(false);
    await mkdir(pathTo('empty'));
    const missing = await postern(`backup create --to ${pathTo('failed.tar')}`, 'postern', {
      BACKUP_PROGRAMS: pathTo('empty'),
    });
    expect(missing.stderr).toContain(`need pg_dump, and it is not in ${pathTo('empty')}: install`);
    const errors = await server.query(
      'select error from backups where error is not null order by started_at',
      'postern',
    );
    expect(errors).toEqual([
      { error: expect.stringContaining('the reason') },
      { error: expect.stringContaining('need pg_dump') },
    ]);
  });
});

describe('a restore with pg_restore', () => {
  it('refuses a database that is not empty, and changes nothing', async () => {
    const database = await emptyDatabase();
    await server.query('create table mine as select 1 as one', database);
    for (const used of [database, 'postern']) {
      const before = await tablesIn(used);
      const { code, stderr } = await postern(`backup restore ${backup} --to ${pathTo('never')}`, used);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`The database ${used} is not empty`)]);
      expect([await tablesIn(used), existsSync(pathTo('never'))]).toEqual([before, false]);
    }
  });

  it('that fails in the middle leaves an empty database, and can be repeated', async () => {
    const database = await emptyDatabase();
    const half = await programs('half', 'head -c 40000 | "$REAL" "$@"');
    const failed = await postern(`backup restore ${backup} --to ${pathTo('half-copy')}`, database, {
      BACKUP_PROGRAMS: half,
    });
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('pg_restore failed') });
    expect([await tablesIn(database), existsSync(pathTo('half-copy'))]).toEqual([0, false]);
    const again = () => postern(`backup restore ${backup} --to ${pathTo('half-copy')}`, database);
    expect(await again()).toMatchObject({ code: 0 });
    // Without the folder of the images, the copy is as after an interruption between the commit and the images.
    await rm(pathTo('half-copy'), { recursive: true });
    expect(await again()).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(join(pathTo('half-copy'), image), 'utf8')).toBe('a picture');
    // The copy is in use now: its rows differ from those of the backup.
    await server.query('delete from kept where n = 1', database);
    await rm(pathTo('half-copy'), { recursive: true });
    expect((await again()).stderr).toContain('kept has 4999 rows instead of 5000');
  });

  it.each([
    ['short', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2), 'its end is missing'],
    ['changed', flipped, 'was changed or is damaged'],
    ['foreign', () => Buffer.from('something else '.repeat(1000)), 'is not a backup of Postern'],
    ['too old', (bytes: Buffer) => withFormat(bytes, 0), 'the old format 0'],
    ['too new', (bytes: Buffer) => withFormat(bytes, 2), 'the format 2, which a newer release'],
  ])('refuses a %s file before it touches the database', async (name, change, sentence) => {
    const database = await emptyDatabase();
    const path = pathTo(`${name.replace(' ', '-')}.tar`);
    await writeFile(path, change(await readFile(backup)));
    const { code, stderr } = await postern(`backup restore ${path} --to ${pathTo('never')}`, database);
    expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
    expect([await tablesIn(database), existsSync(pathTo('never'))]).toEqual([0, false]);
  });

  it('refuses a wrong passphrase, and backups of the other kind', async () => {
    const database = await emptyDatabase();
    const path = pathTo('encrypted.age');
    const secret = { BACKUP_PASSPHRASE: passphrase };
    expect(await postern(`backup create --to ${path}`, 'postern', secret)).toMatchObject({ code: 0 });
    const wrong = await postern(`backup restore ${path} --to ${pathTo('never')}`, database, {
      BACKUP_PASSPHRASE: 'another passphrase',
    });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('is not the passphrase') });
    expect(await tablesIn(database)).toBe(0);
    expect(await postern(`backup restore ${path} --to ${pathTo('decrypted')}`, database, secret)).toMatchObject({
      code: 0,
    });

    const embedded = { DATA_DIR: pathTo('embedded'), SECRET_KEY: 's'.repeat(40) };
    const asFolder = await runCommand(['backup', 'restore', backup, '--to', pathTo('never')], embedded);
    expect(asFolder).toMatchObject({ code: 1, stderr: expect.stringContaining('was made by pg_dump') });
    const files = pathTo('files.tar');
    const header = (await readFile(backup)).toString('latin1').replace('"kind": "dump"', '"kind":"files"');
    await writeFile(files, Buffer.from(header, 'latin1'));
    const intoDatabase = await postern(`backup restore ${files} --to ${pathTo('never')}`, await emptyDatabase());
    expect(intoDatabase).toMatchObject({ code: 1, stderr: expect.stringContaining('is of an embedded database') });
  });
});

function flipped(bytes: Buffer): Buffer {
  const place = Math.floor(bytes.length / 2);
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  return bytes;
}

function withFormat(bytes: Buffer, format: number): Buffer {
  return Buffer.from(bytes.toString('latin1').replace('"format": 1', `"format": ${format}`), 'latin1');
}
