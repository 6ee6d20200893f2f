import { readFile, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';
import { type Environment, runCommand, startCommand, temporaryFolder } from '../command.js';

let test: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let env: Environment;
beforeAll(async () => {
  [test, folder] = await Promise.all([createTestDatabase(), temporaryFolder()]);
  env = { DATABASE_URL: test.url, SECRET_KEY: 's'.repeat(32), DATA_DIR: folder.path, PORT: '0', LOG_LEVEL: 'silent' };
});
afterAll(async () => {
  await test.drop();
  await folder.remove();
});

const urlIn = (text: string) => /ready at (http:\/\/\S+)/.exec(text)?.[1];

describe('serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'serves until %s, which may arrive twice, and exits with 0',
    async (signal) => {
      const command = startCommand(['serve'], env);
      const url = await eventually('the address', async () => urlIn(command.printed()));
      expect((await fetch(`${url}/livez`)).status).toBe(200);
      command.signal(signal);
      command.signal(signal);
      expect(await command.done).toMatchObject({ code: 0, stderr: '' });
      await expect(fetch(`${url}/livez`)).rejects.toThrow('fetch failed');
      expect(command.listeners()).toBe(0);
    },
  );

  it('stops cleanly when a signal arrives during the start', async () => {
    const command = startCommand(['serve'], env);
    command.signal('SIGTERM');
    expect(await command.done).toMatchObject({ code: 0, stderr: '' });
  });

  it('without a terminal, writes the first key to a file that only its owner can read, and prints the path of the file', async () => {
    const command = startCommand(['serve'], env);
    const url = await eventually('the address', async () => urlIn(command.printed()));
    const file = join(folder.path, 'admin-key');
    expect(command.printed()).toContain(file);
    expect(command.printed()).not.toContain('psk_');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const key = (await readFile(file, 'utf8')).trim();
    const answer = await fetch(`${url}/admin/v1/keys`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
    command.signal('SIGTERM');
    await command.done;
  });

  it.each(['PORT', 'CONSOLE_PORT', 'METRICS_PORT'])('exits with 1 and one message when %s is in use', async (name) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    try {
      expect(await runCommand(['serve'], { ...env, [name]: String(port) })).toEqual({
        code: 1,
        stdout: '',
        stderr: `Port ${port} of 127.0.0.1 is in use: stop the program that uses it, or set ${name} to another one.\n`,
      });
    } finally {
      other.close();
    }
  });

  it('exits with 1 and one message when the database does not answer', async () => {
    const away = await runCommand(['serve'], { ...env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
    expect(away).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The database cannot be reached, see DATABASE_URL: .+\n$/),
    });
    const missing = new URL(test.url);
    missing.pathname = '/postern_test_missing';
    expect(await runCommand(['serve'], { ...env, DATABASE_URL: missing.href })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The database refuses the connection, see DATABASE_URL: .+\n$/),
    });
  });

  it('exits with 1 and one message when the database belongs to a newer Postern', async () => {
    await test.database.query(testSql(`insert into schema_migrations (name, digest) values ('9999_future.sql', '')`));
    try {
      const { code, stderr } = await runCommand(['serve'], env);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The database is newer than this version, which does not know 9999_future\.sql.+\n$/);
    } finally {
      await test.database.query(testSql(`delete from schema_migrations where name = '9999_future.sql'`));
    }
  });
});
