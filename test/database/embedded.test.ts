import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded.js';
import { eventually } from '../support/eventually.js';
import { type InstallationOptions, install } from './embedded-installation.js';
import { PosternProcess, publicNode, query, serverPid } from './embedded-postern.js';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const isRoot = process.getuid?.() === 0;
/** In bytes. */
const LONGEST_SOCKET_PATH = 107;
const NOBODY = { uid: 65534, gid: 65534 };

/** Holds everything that the tests write. */
let folder: string;
/** The data of most tests: each stops the server that it started. */
let dataDir: string;
const cleanUps: (() => unknown)[] = [];
const logged: { fields: object; message: string }[] = [];

async function start(at = dataDir): Promise<EmbeddedPostgres> {
  const keep = (fields: object, message: string) => void logged.push({ fields, message });
  const server = await startEmbeddedPostgres({ dataDir: at, log: { info: keep, warn: keep, error: keep } });
  cleanUps.push(() => server.stop());
  return server;
}

async function launch(program: string, at: string, account?: typeof NOBODY): Promise<PosternProcess> {
  const postern = new PosternProcess(program, at, account);
  cleanUps.push(() => postern.kill());
  await postern.started;
  return postern;
}

function installed(options: InstallationOptions) {
  const installation = install(options);
  cleanUps.push(() => rm(installation.root, { recursive: true }));
  return installation;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postern-embedded-'));
  dataDir = join(folder, 'd'.repeat(LONGEST_SOCKET_PATH), 'data');
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  logged.length = 0;
});

afterAll(() => rm(folder, { recursive: true }));

describe('starting', () => {
  test('makes a database that a second start finds as it was left', async () => {
    const first = await start();
    await query(first, "create table kept as select 'as it was' as state");
    await first.stop();
    const second = await start();
    expect(await query(second, 'select state from kept')).toEqual([{ state: 'as it was' }]);
  });

  test('gives a durable database in UTF-8 and UTC, owned by postern, without TCP', async () => {
    const server = await start();
    const names = ['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'listen_addresses', 'TimeZone'];
    const [row] = await query(
      server,
      `select ${names.map((name) => `current_setting('${name}') as "${name}"`).join(', ')}, datlocale as locale,
         pg_encoding_to_char(encoding) as encoding, datdba::regrole::text as owner
       from pg_database where datname = current_database()`,
    );
    expect(row).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      listen_addresses: '',
      TimeZone: 'UTC',
      locale: 'C.UTF-8',
      encoding: 'UTF8',
      owner: 'postern',
    });
  });

  test('never runs PostgreSQL as root, nor lets anybody but the owner read its files', async () => {
    await start();
    const ids = readFileSync(`/proc/${serverPid(dataDir)}/status`, 'utf8').match(/^[UG]id:.*$/gm) ?? [];
    expect(ids).toHaveLength(2);
    expect(ids.join(' ').split(/\s+/)).not.toContain('0');

    const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((path) => join(dataDir, path));
    expect(paths).toContain(join(dataDir, 'postgres', '.s.PGSQL.5432'));
    const readable = [dataDir, ...paths].filter((path) => {
      const status = statSync(path, { throwIfNoEntry: false });
      return status !== undefined && (status.mode & 0o077) !== 0;
    });
    expect(readable).toEqual([]);
  });

  test('gives PostgreSQL none of the environment', async () => {
    await start();
    expect(readFileSync(`/proc/self/environ`, 'utf8')).toMatch(/(^|\0)PATH=/);
    expect(readFileSync(`/proc/${serverPid(dataDir)}/environ`, 'utf8')).not.toMatch(/(^|\0)PATH=/);
  });

  test('keeps statements and rows out of the log', async () => {
    const server = await start();
    await query(server, 'create table secrets (secret text primary key check (length(secret) < 20))');
    await query(server, "insert into secrets values ('s3cret')");
    await expect(query(server, "insert into secrets values ('s3cret')")).rejects.toThrow('duplicate key');
    await expect(query(server, "insert into secrets values ('a-much-too-long-s3cret')")).rejects.toThrow('check');
    const text = readFileSync(join(dataDir, 'postgres.log'), 'utf8');
    expect(text).toContain('duplicate key value');
    expect(text).toContain('violates check constraint');
    expect(text).not.toContain('s3cret');
  });

  test('begins a new log when the last one is larger than 10 MiB', async () => {
    await (await start()).stop();
    writeFileSync(join(dataDir, 'postgres.log'), 'x'.repeat(10 * 1024 * 1024 + 1));
    await start();
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toMatch(/^\d{4}-.*starting PostgreSQL/);
    expect(statSync(join(dataDir, 'postgres.log.1')).size).toBe(10 * 1024 * 1024 + 1);
  });

  test('clears away what an initdb has left that was killed long ago, and no other one', async () => {
    const [abandoned, current] = [join(dataDir, 'postgres.new-killed'), join(dataDir, 'postgres.new-of-another')];
    for (const path of [abandoned, current]) mkdirSync(join(path, 'base'), { recursive: true });
    utimesSync(abandoned, 0, 0);
    await start();
    expect(existsSync(abandoned)).toBe(false);
    expect(existsSync(current)).toBe(true);
  });
});

describe('where it lies', () => {
  test('works when project and data lie below folders that only their owner may enter', async () => {
    const hidden = installed({ mode: 0o700, binaries: 'copy' });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const postern = await launch(hidden.program, dataDir);
    expect(await postern.query('select 1 as one')).toEqual([{ one: 1 }]);
    await postern.stop();
  });

  test('works where the path of the socket is longer than 107 bytes', async () => {
    expect(Buffer.byteLength(join(dataDir, 'postgres', '.s.PGSQL.5432'))).toBeGreaterThan(LONGEST_SOCKET_PATH);
    expect(await query(await start(), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('an unprivileged Postern makes its own copy of binaries that lack their links and are not its own', async () => {
    const foreign = installed({ binaries: 'copy' });
    chmodSync(join(foreign.native, 'lib'), 0o555);
    const own = mkdtempSync(join(tmpdir(), 'postern-embedded-'));
    cleanUps.push(() => rm(own, { recursive: true }));
    if (isRoot) chownSync(own, NOBODY.uid, NOBODY.gid);
    const postern = await launch(foreign.program, own, isRoot ? NOBODY : undefined);
    expect(await postern.query('select 1 as one')).toEqual([{ one: 1 }]);
    expect(readdirSync(own).filter((name) => name.startsWith('postern-postgres-'))).toHaveLength(1);
    await postern.stop();
    chmodSync(join(foreign.native, 'lib'), 0o755);
  });

  test('does not run a copy of the binaries that another account could have changed', async () => {
    const hidden = installed({ mode: 0o700, binaries: 'copy' });
    chmodSync(join(hidden.native, 'lib'), 0o555);
    const url = pathToFileURL(join(hidden.root, 'embedded', 'binaries.js')).href;
    const { locateBinaries }: typeof import('../../src/database/embedded/binaries.js') = await import(url);
    const [honest, forged] = [
      mkdtempSync(join(tmpdir(), 'postern-place-')),
      mkdtempSync(join(tmpdir(), 'postern-place-')),
    ];
    for (const place of [honest, forged]) {
      chmodSync(place, 0o755);
      cleanUps.push(() => rm(place, { recursive: true }));
    }
    const { directory } = await locateBinaries(isRoot ? NOBODY : undefined, [honest]);
    expect(directory.startsWith(honest)).toBe(true);

    const copy = join(forged, basename(dirname(directory)));
    renameSync(dirname(directory), copy);
    const account = isRoot ? NOBODY : { uid: statSync(copy).uid, gid: statSync(copy).gid };
    chmodSync(copy, 0o777);
    await expect(locateBinaries(account, [forged])).rejects.toThrow('could be changed by another account');
    chmodSync(copy, 0o755);
    if (isRoot) chownSync(copy, NOBODY.uid, NOBODY.gid);
    await expect(locateBinaries(account, [forged])).rejects.toThrow('could be changed by another account');
    chmodSync(join(hidden.native, 'lib'), 0o755);
  });
});

describe('refusing, with what can be done about it', () => {
  test('a platform without binaries', async () => {
    const { program } = installed({ binaries: 'none' });
    await expect(launch(program, dataDir)).rejects.toMatchObject({
      code: 'no_binaries',
      message: expect.stringContaining('set DATABASE_URL'),
    });
  });

  test('the data of another major version, which it leaves alone', async () => {
    const other = join(folder, 'other-version');
    mkdirSync(join(other, 'postgres'), { recursive: true });
    writeFileSync(join(other, 'postgres', 'PG_VERSION'), '17\n');
    if (isRoot) chownSync(join(other, 'postgres', 'PG_VERSION'), NOBODY.uid, NOBODY.gid);
    await expect(start(other)).rejects.toMatchObject({
      code: 'wrong_major_version',
      message: expect.stringMatching(/PostgreSQL 17.*PostgreSQL 18.*DATABASE_URL/),
    });
    expect(readdirSync(join(other, 'postgres'))).toEqual(['PG_VERSION']);
  });

  test('a folder of something else, which it leaves alone', async () => {
    const other = join(folder, 'something-else');
    mkdirSync(join(other, 'postgres'), { recursive: true });
    writeFileSync(join(other, 'postgres', 'letters.txt'), 'Dear');
    await expect(start(other)).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: expect.stringContaining('choose another DATA_DIR'),
    });
    expect(readdirSync(join(other, 'postgres'))).toEqual(['letters.txt']);
  });

  test('a DATA_DIR that cannot be made', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(start(join(folder, 'file', 'data'))).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: expect.stringContaining('choose another one'),
    });
  });

  test('data with which PostgreSQL does not start, with the end of its log', async () => {
    await (await start()).stop();
    const settings = join(dataDir, 'postgres', 'postgresql.auto.conf');
    writeFileSync(settings, 'unknown_setting = 1\n');
    await expect(start()).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringMatching(/configuration file .* contains errors.*postgres\.log/),
    });
    const tail = logged.find(({ message }) => message.includes('end of its log'))?.fields;
    expect(JSON.stringify(tail)).toContain('unrecognized configuration parameter');
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);

    writeFileSync(settings, '');
    expect(await query(await start(), 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe.runIf(isRoot)('where root has started it', () => {
  /** What a program of the server's account gets that connects as superuser: `in`, or the code of the refusal. */
  async function byAccountOf(at = dataDir): Promise<string> {
    const { root } = installed({ binaries: 'none' });
    const pid = serverPid(at);
    const { uid, gid } = statSync(`/proc/${pid}`);
    const program = `
      const client = new (require('pg').Client)({
        host: '/proc/${pid}/cwd', port: 5432, user: 'postern', database: 'postgres', ssl: false });
      client.connect().then(() => console.log('in'), ({ code }) => console.log(code)).then(() => client.end());`;
    const options = { uid, gid, cwd: root, env: {} };
    const { stdout } = await promisify(execFile)(publicNode(), ['-e', program], options);
    expect(uid).not.toBe(0);
    return stdout.trim();
  }

  const invalidAuthorization = '28000';

  test('lets no program of the account in that the server runs as, and root without a password', async () => {
    const server = await start();
    expect(await byAccountOf()).toBe(invalidAuthorization);
    expect(await query(server, 'select current_user as name')).toEqual([{ name: 'postern' }]);
  });

  test('does so with data of an older release, which let everybody in', async () => {
    await (await start()).stop();
    writeFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), 'local all all trust\n');
    writeFileSync(join(dataDir, 'postgres', 'pg_ident.conf'), '');
    const server = await start();
    expect(await byAccountOf()).toBe(invalidAuthorization);
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('does so at a server of an older release that runs, once another one joins', async () => {
    const server = await start();
    writeFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), 'local all all trust\n');
    await query(server, 'select pg_reload_conf()');
    await eventually('the server of an older release', async () => ((await byAccountOf()) === 'in' ? true : undefined));
    const other = await start();
    await eventually('its restriction', async () =>
      (await byAccountOf()) === invalidAuthorization ? true : undefined,
    );
    for (const one of [server, other]) expect(await query(one, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('starts again whatever lies in the place of these files', async () => {
    await (await start()).stop();
    const [hba, ident] = ['pg_hba.conf', 'pg_ident.conf'].map((name) => join(dataDir, 'postgres', name));
    const outside = join(folder, 'outside');
    writeFileSync(outside, 'as it was');
    rmSync(hba ?? '');
    symlinkSync(outside, hba ?? '');
    rmSync(ident ?? '');
    await start();
    expect(await byAccountOf()).toBe(invalidAuthorization);
    expect(readFileSync(outside, 'utf8')).toBe('as it was');
  });
});
