import { chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTarget } from '../../../src/app/base/database-target.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { databaseDigest } from '../../support/digests.js';
import { testSql } from '../../support/sql.js';
import { runCommand, temporaryFolder } from '../command.js';

let test: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  [test, folder] = await Promise.all([createTestDatabase(), temporaryFolder()]);
});
afterAll(async () => {
  await test.drop();
  await folder.remove();
});

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const run = (text: string) => test.database.query(testSql<{ name: string }>(text));
const check = (more: Readonly<Record<string, string>> = {}) =>
  runCommand(['upgrade', '--check'], {
    ...{ DATABASE_URL: test.url, SECRET_KEY: 's'.repeat(32), DATA_DIR: folder.path },
    ...more,
  });

describe('upgrade --check', () => {
  it('says that a start changes nothing in a current database', async () => {
    const { code, stdout, stderr } = await check();
    expect(stderr).toBe('');
    expect(stdout).toContain('ok    migrations: none is pending\n');
    expect(stdout).toMatch(/Postern \S+ can start with this database\. Nothing was changed\./);
    expect(code).toBe(0);
  });

  it('names the migrations that a start would apply, and applies none', async () => {
    await run("delete from schema_migrations where name >= '0006'");
    expect(await check()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok {4}migrations: a start applies \d+: .*0006_webhooks\.sql/m),
    });
    expect(await run("select name from schema_migrations where name >= '0006'")).toEqual([]);
  });

  it('names former names of settings', async () => {
    expect((await check({ ALLOW_CONSOLE_SMS: 'true' })).stdout).toMatch(/^warn {2}configuration: .*ALLOW_CONSOLE_SMS/m);
  });

  it('reports an unfit encoding of the database and errors in texts, and writes nothing', async () => {
    const unfit = await createTestDatabase(`template template0 encoding 'SQL_ASCII' locale_provider libc locale 'C'`);
    const before = await databaseDigest(unfit.target);
    await mkdir(join(folder.path, 'texts'));
    await writeFile(join(folder.path, 'texts', 'sms.code.en.txt'), 'no code');
    const { code, stdout } = await check({ DATABASE_URL: unfit.url, TEMPLATES_DIR: join(folder.path, 'texts') });
    expect(stdout).toContain('FAIL  templates: ');
    expect(stdout).toContain('FAIL  database: The database has the encoding SQL_ASCII');
    expect(stdout).toContain('Fix what failed before you start Postern');
    expect(code).toBe(1);
    expect(await databaseDigest(unfit.target)).toBe(before);
    await unfit.drop();
  });

  it('names the migrations of the embedded database, and changes neither its contents nor the files beside it', async () => {
    const { path, remove } = await temporaryFolder();
    const digest = async () => {
      const { target, close } = await openTarget({ DATA_DIR: path }, quiet);
      try {
        return await databaseDigest(target);
      } finally {
        await close();
      }
    };
    const before = await digest();
    const files = await readdir(path);
    const { code, stdout } = await runCommand(['upgrade', '--check'], { DATA_DIR: path });
    expect(stdout).toMatch(/^ok {4}migrations: a start applies \d+: 0001_users_and_logins\.sql/m);
    expect(code).toBe(0);
    expect(await readdir(path)).toEqual(files);
    expect(await digest()).toBe(before);
    await remove();
  });

  it('fails for a newer database, and for errors of the configuration', async () => {
    await run("insert into schema_migrations (name, digest) values ('9999_future.sql', '')");
    expect(await check()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        'FAIL  migrations: The database is newer than this version, which does not know 9999_future.sql',
      ),
    });
    await run("delete from schema_migrations where name = '9999_future.sql'");
    expect(await check({ SESSION_TTL: 'long' })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('FAIL  configuration: SESSION_TTL'),
    });
  });

  it('refuses the files of a major version of PostgreSQL that it cannot move', async () => {
    const data = join(folder.path, 'postgres');
    await mkdir(data, { mode: 0o700 });
    await writeFile(join(data, 'PG_VERSION'), '16\n');
    // PostgreSQL does not run as root.
    if (process.getuid?.() === 0) for (const path of [data, join(data, 'PG_VERSION')]) await chown(path, 65534, 65534);
    const { code, stdout } = await runCommand(['upgrade', '--check'], { DATA_DIR: folder.path });
    expect(stdout).toContain('which cannot move data of that version');
    expect(code).toBe(1);
    await rm(data, { recursive: true });
  });
});

it('upgrade without --check says how to upgrade', async () => {
  expect(await runCommand(['upgrade'], {})).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('A start of the service, or `postern migrate`, makes the changes.'),
  });
});
