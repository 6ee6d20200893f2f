import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { locateBinaries } from '../../src/embedded/binaries.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded/embedded.js';
import { eventually } from '../support/eventually.js';
import { type InstallationOptions, install } from './embedded-installation.js';
import { PosternProcess, publicNode, query, serverPid } from './embedded-postern.js';

const isRoot = process.getuid?.() === 0;
/** In bytes. */
const LONGEST_SOCKET_PATH = 107;
const NOBODY = { uid: 65534, gid: 65534 };

/** Holds everything that the tests write. */
let folder: string;
/** The data of most tests. Each stops the server that it started. */
let dataDir: string;
const cleanUps: (() => unknown)[] = [];
const logged: { fields: object; message: string }[] = [];

async function start(path = dataDir): Promise<EmbeddedPostgres> {
  const record = (fields: object, message: string) => void logged.push({ fields, message });
  const server = await startEmbeddedPostgres({ dataDir: path, log: { info: record, warn: record, error: record } });
  cleanUps.push(() => server.stop());
  return server;
}

async function launch(program: string, path: string, account?: typeof NOBODY): Promise<PosternProcess> {
  const postern = new PosternProcess(program, path, account);
  cleanUps.push(() => postern.kill());
  await postern.started;
  return postern;
}

function installForTest(options: InstallationOptions) {
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

describe('a start', () => {
  test('creates a database that keeps its data until the next start', async () => {
    const first = await start();
    await query(first, "create table kept as select 'as it was' as state");
    await first.stop();
    const second = await start();
    expect(await query(second, 'select state from kept')).toEqual([{ state: 'as it was' }]);
  });

  test('creates a durable database in UTF-8 and UTC, owned by postern, without TCP', async () => {
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

  test('never runs PostgreSQL as root, and lets only the owner read its files', async () => {
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

  test('does not pass the environment to PostgreSQL', async () => {
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

  test('starts a new log when the last one is larger than 10 MiB', async () => {
    await (await start()).stop();
    writeFileSync(join(dataDir, 'postgres.log'), 'x'.repeat(10 * 1024 * 1024 + 1));
    await start();
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toMatch(/^\d{4}-.*starting PostgreSQL/);
    expect(statSync(join(dataDir, 'postgres.log.1')).size).toBe(10 * 1024 * 1024 + 1);
  });

  test('removes the folder of an initdb that was killed long ago, and keeps recent ones', async () => {
    const [abandoned, current] = [join(dataDir, 'postgres.new-killed'), join(dataDir, 'postgres.new-of-another')];
    for (const path of [abandoned, current]) mkdirSync(join(path, 'base'), { recursive: true });
    utimesSync(abandoned, 0, 0);
    await start();
    expect(existsSync(abandoned)).toBe(false);
    expect(existsSync(current)).toBe(true);
  });
});

describe('the location of the files', () => {
  test('works when project and data are below folders that only their owner may enter', async () => {
    const hidden = installForTest({ mode: 0o700, binaries: 'copy' });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const postern = await launch(hidden.program, dataDir);
    expect(await postern.query('select 1 as one')).toEqual([{ one: 1 }]);
    await postern.stop();
  });

  test('works when the path of the socket is longer than 107 bytes', async () => {
    expect(Buffer.byteLength(join(dataDir, 'postgres', '.s.PGSQL.5432'))).toBeGreaterThan(LONGEST_SOCKET_PATH);
    expect(await query(await start(), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('an unprivileged Postern copies binaries that it may not change, if their symbolic links are missing', async () => {
    const foreign = installForTest({ binaries: 'copy' });
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

  test('binaries below a folder with a character of the shell in its name are copied, because initdb uses a shell', async () => {
    const { native } = installForTest({ binaries: 'copy' });
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'postern-shell-')));
    cleanUps.push(() => rm(root, { recursive: true }));
    const safe = join(root, "it's 100% safe");
    mkdirSync(safe);
    let current = native;
    for (const name of ['$HOME', '`id`', '"', '\\']) {
      const unsafe = join(root, name);
      mkdirSync(unsafe);
      renameSync(current, join(unsafe, 'native'));
      current = join(unsafe, 'native');
      // The first one copies them, and the others find the copy.
      const { directory } = await locateBinaries(undefined, [unsafe, safe], current);
      expect(directory.startsWith(safe), name).toBe(true);
      expect(readdirSync(unsafe)).toEqual(['native']);
      await expect(locateBinaries(undefined, [unsafe], current)).rejects.toThrow(
        `PostgreSQL cannot run below ${unsafe}`,
      );
    }
  });

  test('does not run a copy of the binaries that another account could have changed', async () => {
    const hidden = installForTest({ mode: 0o700, binaries: 'copy' });
    chmodSync(join(hidden.native, 'lib'), 0o555);
    const url = pathToFileURL(join(hidden.root, 'embedded', 'binaries.js')).href;
    const installedModule: typeof import('../../src/embedded/binaries.js') = await import(url);
    const locate = installedModule.locateBinaries;
    const [safeFolder, unsafeFolder] = [
      mkdtempSync(join(tmpdir(), 'postern-copies-')),
      mkdtempSync(join(tmpdir(), 'postern-copies-')),
    ];
    for (const copyFolder of [safeFolder, unsafeFolder]) {
      chmodSync(copyFolder, 0o755);
      cleanUps.push(() => rm(copyFolder, { recursive: true }));
    }
    const { directory } = await locate(isRoot ? NOBODY : undefined, [safeFolder]);
    expect(directory.startsWith(safeFolder)).toBe(true);

    const copy = join(unsafeFolder, basename(dirname(directory)));
    renameSync(dirname(directory), copy);
    const account = isRoot ? NOBODY : { uid: statSync(copy).uid, gid: statSync(copy).gid };
    chmodSync(copy, 0o777);
    await expect(locate(account, [unsafeFolder])).rejects.toThrow('could be changed by another account');
    chmodSync(copy, 0o755);
    if (isRoot) chownSync(copy, NOBODY.uid, NOBODY.gid);
    await expect(locate(account, [unsafeFolder])).rejects.toThrow('could be changed by another account');
    chmodSync(join(hidden.native, 'lib'), 0o755);
  });
});

describe('an error that says what to do', () => {
  test('reports a platform without binaries', async () => {
    const { program } = installForTest({ binaries: 'none' });
    await expect(launch(program, dataDir)).rejects.toMatchObject({
      code: 'no_binaries',
      message: expect.stringContaining('set DATABASE_URL'),
    });
  });

  test('reports data of another major version, and does not change them', async () => {
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

  test('reports a folder with other content, and does not change it', async () => {
    const other = join(folder, 'something-else');
    mkdirSync(join(other, 'postgres'), { recursive: true });
    writeFileSync(join(other, 'postgres', 'letters.txt'), 'Dear');
    await expect(start(other)).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: expect.stringContaining('choose another DATA_DIR'),
    });
    expect(readdirSync(join(other, 'postgres'))).toEqual(['letters.txt']);
  });

  test('reports a DATA_DIR that cannot be created', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(start(join(folder, 'file', 'data'))).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: expect.stringContaining('choose another one'),
    });
  });

  test('reports a DATA_DIR that is a file', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expect(start(join(folder, 'file'))).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: expect.stringContaining('it is a file, not a folder'),
    });
  });

  test.runIf(existsSync('/proc/self'))('reports a DATA_DIR where no folder can be created', async () => {
    await expect(start('/proc/postern/data')).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: expect.stringContaining('choose another one'),
    });
  });

  test('reports data with which PostgreSQL does not start, with the end of its log', async () => {
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

describe.runIf(isRoot)('a server that root has started', () => {
  let root: string;
  beforeAll(() => {
    root = install({ binaries: 'none' }).root;
  });
  afterAll(() => rm(root, { recursive: true }));

  /** A program of the server's account connects as superuser. Returns `in`, or the code of the error. */
  async function connectAsServerAccount(path = dataDir): Promise<string> {
    const pid = serverPid(path);
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

  const reloadTime = async (server: EmbeddedPostgres) =>
    (await query(server, 'select pg_conf_load_time()::text as at'))[0];

  test('admits root without a password, and refuses programs of the account that the server runs as', async () => {
    const server = await start();
    expect(await connectAsServerAccount()).toBe(invalidAuthorization);
    expect(await query(server, 'select current_user as name')).toEqual([{ name: 'postern' }]);
  });

  test('ignores rules in the data directory, because its account could change them', async () => {
    const server = await start();
    const before = await reloadTime(server);
    writeFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), 'local all all trust\n');
    writeFileSync(join(dataDir, 'postgres', 'pg_ident.conf'), 'postern /.* postern\n');
    process.kill(serverPid(dataDir), 'SIGHUP');
    await eventually('the reload', async () => {
      const after = await reloadTime(server);
      return JSON.stringify(after) === JSON.stringify(before) ? undefined : true;
    });
    expect(await connectAsServerAccount()).toBe(invalidAuthorization);
    expect(await query(server, 'select error from pg_hba_file_rules')).toEqual([{ error: null }]);

    await server.stop();
    await start();
    expect(await connectAsServerAccount()).toBe(invalidAuthorization);
  });

  test('keeps its rules for clients in deleted files, which belong to root and which its account can only read', async () => {
    await start();
    const pid = serverPid(dataDir);
    const { uid, gid } = statSync(`/proc/${pid}`);
    for (const descriptor of [4, 5]) {
      const path = `/proc/${pid}/fd/${descriptor}`;
      expect(readlinkSync(path)).toMatch(/postgres\.access-[0-9a-f]{12} \(deleted\)$/);
      expect(statSync(path)).toMatchObject({ uid: 0, nlink: 0 });
      const program = `
        const { openSync, constants } = require('fs');
        try { openSync('${path}', constants.O_WRONLY); console.log('open'); } catch ({ code }) { console.log(code); }`;
      const { stdout } = await promisify(execFile)(publicNode(), ['-e', program], { uid, gid, cwd: '/', env: {} });
      expect(stdout.trim()).toBe('EACCES');
    }
    expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres.access'))).toEqual([]);
  });
});
