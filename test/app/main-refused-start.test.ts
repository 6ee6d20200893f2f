import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTarget } from '../../src/app/base/database-target.js';
import { createLog } from '../../src/app/base/log.js';
import { checkSecrets } from '../../src/app/doctor/checks.js';
import { startPostern } from '../../src/app/main.js';
import { readConfig } from '../../src/config/config.js';
import { openClient } from '../../src/database/connections/open-client.js';
import { runCommand } from '../cli/command.js';
import { copyCluster } from '../support/cluster.js';
import { createTestDatabase } from '../support/database.js';
import { databaseDigest, folderDigest } from '../support/digests.js';
import { eventually } from '../support/eventually.js';
import { pinHashOf } from '../support/pins.js';
import { testSql } from '../support/sql.js';

const secret = { SECRET_KEY: 's'.repeat(32) };

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-refused-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Starts the service, which must fail. @returns the message of the error */
async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
  const config = readConfig({ PORT: '0', HOST: '127.0.0.1', ...env });
  try {
    const postern = await startPostern(config, { log: createLog('silent') });
    await postern.close();
  } catch (error) {
    return (error as Error).message;
  }
  return 'it started';
}

async function testDatabase() {
  const db = await createTestDatabase();
  onTestFinished(() => db.drop());
  return db;
}

/** A database with pending migrations, so that a start would write. */
async function olderDatabase() {
  const db = await testDatabase();
  await db.database.query(testSql("delete from schema_migrations where name > '0006'"));
  return db;
}

test.each([
  ['that a newer release has migrated', '9999_future.sql', 'does not know 9999_future.sql: run a newer Postern'],
  ['from before the first release', '0001_foundation.sql', 'Nothing was changed. Start with a new database'],
])('a start with a database %s is refused, and writes nothing', async (_, name, text) => {
  const db = await testDatabase();
  const dataDir = await emptyFolder();
  await db.database.query(testSql("insert into schema_migrations (name, digest) values ($1, '')", [name]));
  const before = await databaseDigest(db.target);
  const env = { DATABASE_URL: db.url, ...secret, DATA_DIR: dataDir };
  expect(await refusal(env)).toContain(text);
  for (const command of [['doctor'], ['upgrade', '--check']]) {
    const { code, stdout } = await runCommand(command, env);
    expect(stdout).toMatch(/^FAIL {2}migrations: The database /m);
    expect(stdout).toContain(text);
    expect(code).toBe(1);
  }
  expect(await databaseDigest(db.target)).toBe(before);
  expect(await readdir(dataDir)).toEqual([]);
});

test('a start with an error in a text of TEMPLATES_DIR does not migrate', async () => {
  const db = await olderDatabase();
  const TEMPLATES_DIR = await emptyFolder();
  await writeFile(join(TEMPLATES_DIR, 'sms.code.en.txt'), 'no code');
  const before = await databaseDigest(db.target);
  expect(await refusal({ DATABASE_URL: db.url, ...secret, TEMPLATES_DIR })).toContain('TEMPLATES_DIR');
  expect(await databaseDigest(db.target)).toBe(before);
});

test.each(['PORT', 'CONSOLE_PORT', 'METRICS_PORT'])('a start whose %s is in use does not migrate', async (name) => {
  const db = await olderDatabase();
  const program = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void program.close());
  await once(program, 'listening');
  const { port } = program.address() as AddressInfo;
  const before = await databaseDigest(db.target);
  expect(await refusal({ DATABASE_URL: db.url, ...secret, [name]: `${port}` })).toContain('EADDRINUSE');
  expect(await databaseDigest(db.target)).toBe(before);
});

test('a start that fails keeps former data that is older than seven days, and one that succeeds removes it', async () => {
  const dataDir = await emptyFolder();
  await copyCluster(dataDir);
  const start = () => startPostern(readConfig({ PORT: '0', DATA_DIR: dataDir }), { log: createLog('silent') });
  const first = await start();
  await first.database.query(testSql("insert into schema_migrations (name, digest) values ('9999_future.sql', '')"));
  await first.close();
  const kept = 'postgres-17.kept-2026-01-01T00-00-00';
  await mkdir(join(dataDir, kept));
  expect(await refusal({ DATA_DIR: dataDir })).toContain('9999_future.sql');
  expect(await readdir(dataDir)).toContain(kept);

  const { target, close } = await openTarget({ DATA_DIR: dataDir }, createLog('silent'));
  const client = await openClient(target, { application_name: 'test', connectionTimeoutMillis: 10_000 });
  await client.query("delete from schema_migrations where name = '9999_future.sql'");
  await client.end();
  await close();
  const second = await start();
  await eventually('the removal', async () => !(await readdir(dataDir)).includes(kept) || undefined);
  await second.close();
});

test('a start with a damaged file of the secret key creates no database', async () => {
  const dataDir = await emptyFolder();
  await writeFile(join(dataDir, 'secret-key'), 'short');
  const before = await folderDigest(dataDir);
  expect(await refusal({ DATA_DIR: dataDir })).toContain('secret-key holds no key');
  expect(await folderDigest(dataDir)).toBe(before);
});

test('upgrade --check and doctor create no secret key in place of a missing one', async () => {
  const db = await olderDatabase();
  const dataDir = await emptyFolder();
  const before = await databaseDigest(db.target);
  for (const command of [['upgrade', '--check'], ['doctor']]) {
    const { stdout } = await runCommand(command, { DATABASE_URL: db.url, ...secret, DATA_DIR: dataDir });
    expect(stdout).toContain('ok    encrypted values');
    expect(await databaseDigest(db.target)).toBe(before);
    expect(await readdir(dataDir)).toEqual([]);
  }
  const config = readConfig({ DATA_DIR: dataDir });
  expect(await checkSecrets(db.database, config)).toMatchObject([
    { level: 'FAIL', detail: expect.stringContaining('secret-key is missing') },
  ]);
  expect(await readdir(dataDir)).toEqual([]);
});

test('a start without the secret key of the stored values is refused, and makes no key unless told to', async () => {
  const dataDir = await emptyFolder();
  await copyCluster(dataDir);
  const config = { PORT: '0', DATA_DIR: dataDir };
  const first = await startPostern(readConfig({ ...config, ADMIN_API_KEY: 'k'.repeat(32) }), {
    log: createLog('silent'),
  });
  const created = await fetch(`${first.url}/admin/v1/users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${'k'.repeat(32)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ada', pin: '2468' }),
  });
  expect(created.status).toBe(201);
  await first.close();
  await rm(join(dataDir, 'secret-key'));

  const message =
    /^The database was used with another secret key.+1 PINs.+Put the file secret-key back into .+accept-new/;
  expect(await refusal(config)).toMatch(message);
  const { code, stderr } = await runCommand(['serve'], { ...config, WORKERS: '2' });
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(await readdir(dataDir)).not.toContain('secret-key');

  const accepted = await runCommand(['secret', 'accept-new'], config);
  expect(accepted).toMatchObject({ code: 0, stdout: expect.stringMatching(/never work again: .*1 PINs/) });
  const log: string[] = [];
  const again = await startPostern(readConfig(config), {
    log: createLog('error', { write: (line) => log.push(line) }),
  });
  await again.close();
  expect(log.join('')).toContain('1 PINs cannot be decrypted');
});

test('a start with a SECRET_KEY that the database never used is refused until the old key is added or given up', async () => {
  const db = await testDatabase();
  const env = { DATABASE_URL: db.url, DATA_DIR: await emptyFolder(), SECRET_KEY: 'a'.repeat(32) };
  expect(await refusal(env)).toBe('it started');
  const { stdout } = await runCommand(['users', 'create', '--username', 'ada', '--json'], env);
  const { id } = JSON.parse(stdout);
  await db.database.query(
    testSql('update users set pin_hash = $2 where id = $1', [id, await pinHashOf(env.SECRET_KEY, id)]),
  );

  const replaced = { ...env, SECRET_KEY: 'b'.repeat(32) };
  expect(await refusal(replaced)).toMatch(/1 PINs.+Add it to SECRET_KEY after the current key/);
  expect(await refusal({ ...env, SECRET_KEY: `${'c'.repeat(32)},${env.SECRET_KEY}` })).toBe('it started');
  expect(await runCommand(['secret', 'accept-new'], replaced)).toMatchObject({ code: 0 });
  expect(await refusal(replaced)).toBe('it started');
});
