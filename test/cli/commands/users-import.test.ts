import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ImportedLine } from '../../../src/contract/user-import.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
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

const command = (args: readonly string[], input?: string) =>
  runCommand(args, { DATABASE_URL: test.url, SECRET_KEY: 's'.repeat(32), DATA_DIR: folder.path }, input);
const name = () => `cli${randomInt(1e12)}`;
const toText = (lines: readonly (object | string)[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
const resultsOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ImportedLine);
const count = async () =>
  (await test.database.query<{ count: number }>(testSql('select count(*) as count from users')))[0]?.count;

it('creates the users of a file, with results on standard output and a summary on standard error', async () => {
  const file = join(folder.path, 'users.ndjson');
  const prefix = name();
  const lines = Array.from({ length: 1500 }, (_, index) => ({ username: `${prefix}-${index}` }));
  await writeFile(file, toText(lines));
  const first = await command(['users', 'import', file]);
  expect([first.code, first.stderr]).toEqual([
    0,
    '1500 created, 0 exist already, 0 failed; processed up to line 1500.\n',
  ]);
  const results = resultsOf(first.stdout);
  expect(results).toHaveLength(1500);
  expect(results[1499]).toEqual({ line: 1500, result: 'created', id: expect.any(String) });
  const [event] = await test.database.query(
    testSql('select actor, type from events where user_id = $1', [results[7]?.id]),
  );
  expect(event).toEqual({ actor: 'cli', type: 'user.created' });

  const again = await command(['users', 'import', file]);
  expect([again.code, again.stderr]).toEqual([
    0,
    '0 created, 1500 exist already, 0 failed; processed up to line 1500.\n',
  ]);
});

it('exits with 1 if a line failed, and creates the other users', async () => {
  const input = toText([{ username: name(), role: 'operator' }, '', { username: 'a b' }, '{', { username: name() }]);
  const { code, stdout, stderr } = await command(['users', 'import', '-'], input);
  expect([code, stderr]).toEqual([1, '2 created, 0 exist already, 2 failed; processed up to line 5.\n']);
  expect(resultsOf(stdout)).toEqual([
    { line: 1, result: 'created', id: expect.any(String) },
    {
      ...{ line: 3, result: 'failed' },
      errors: [{ field: 'username', code: 'invalid_identity', message: 'This is not a valid username.' }],
    },
    { line: 4, result: 'failed', errors: [{ code: 'malformed_json', message: 'The body is not valid JSON.' }] },
    { line: 5, result: 'created', id: expect.any(String) },
  ]);
});

it('keeps no password and no PIN that the person with the file knows', async () => {
  const [typed, hashed] = [name(), name()];
  const hash = '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$0nBk0m5dFJ8FZ0kXb8vgdM4p4t0oZ3lZbq0Wk7i7s6s';
  const { code, stdout } = await command(
    ['users', 'import', '-'],
    toText([
      { username: typed, password: 'a kettle full of stars' },
      { username: hashed, password_hash: hash },
      { username: name(), pin: '2468' },
    ]),
  );
  expect([code, resultsOf(stdout)]).toMatchObject([
    1,
    [
      { line: 1, result: 'created' },
      { line: 2, result: 'created' },
      { line: 3, result: 'failed', errors: [{ field: 'pin', code: 'pin_of_user' }] },
    ],
  ]);
  const rows = await test.database.query<{ username: string; must_change: boolean }>(
    testSql('select username, must_change from users where username = any ($1)', [[typed, hashed]]),
  );
  expect(new Map(rows.map(({ username, must_change }) => [username, must_change]))).toEqual(
    new Map([
      [typed, true],
      [hashed, false],
    ]),
  );
});

it('creates nothing with --dry-run', async () => {
  const before = await count();
  const { code, stdout, stderr } = await command(['users', 'import', '-', '--dry-run'], toText([{ username: name() }]));
  expect([code, stderr]).toEqual([
    0,
    '1 would be created, 0 created, 0 exist already, 0 failed; processed up to line 1.\n',
  ]);
  expect(resultsOf(stdout)).toEqual([{ line: 1, result: 'valid' }]);
  expect(await count()).toBe(before);
});

it('reports a missing file', async () => {
  const { code, stdout, stderr } = await command(['users', 'import', join(folder.path, 'missing.ndjson')]);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^ENOENT: no such file or directory, open '.*missing\.ndjson'\n$/);
});

it('reads CSV as the console does: byte order mark, separator, quotes and headings', async () => {
  const [one, two] = [name(), name()];
  const csv = `\ufeffUsuario;Correo electrónico;"Nombre completo";Plan\r\n${one};${one}@example.com;"Ada ""A"" Lovelace;\nCountess";gold\r\n${two};;'=Grace;\r\n`;
  const file = join(folder.path, 'users.csv');
  for (const bytes of [Buffer.from(csv), Buffer.from(csv, 'utf16le')]) {
    await writeFile(file, bytes);
    const { code, stdout, stderr } = await command(['users', 'import', file]);
    expect([code, resultsOf(stdout).map(({ line }) => line)]).toEqual([0, [2, 4]]);
    expect(stderr).toContain('Usuario: username, Correo electrónico: email, Nombre completo: name, Plan: not imported');
  }
  const users = await test.database.query(
    testSql('select username, email, name from users where username = any ($1) order by created_at, email nulls last', [
      [one, two],
    ]),
  );
  expect(users).toEqual([
    { username: one, email: `${one}@example.com`, name: 'Ada "A" Lovelace;\nCountess' },
    { username: two, email: null, name: '=Grace' },
  ]);
});

it('reads CSV from standard input, and reports rows that are not valid', async () => {
  const [one, two] = [name(), name()];
  const { code, stdout } = await command(['users', 'import', '-'], `username,email\n${one},,x\n${two},\n"open`);
  expect(code).toBe(1);
  expect(resultsOf(stdout)).toMatchObject([
    { line: 2, result: 'failed', errors: [{ code: 'invalid_row' }] },
    { line: 3, result: 'created' },
    { line: 4, result: 'failed', errors: [{ code: 'invalid_row' }] },
  ]);
});

it('refuses a file without a known column, and a workbook', async () => {
  const unknown = await command(['users', 'import', '-'], 'color,size\nred,10\n');
  expect([unknown.code, unknown.stderr]).toEqual([expect.any(Number), expect.stringContaining('No column')]);
  expect(unknown.code).not.toBe(0);
  const file = join(folder.path, 'users.xlsx');
  await writeFile(file, Buffer.from('PK\x03\x04 a workbook'));
  const workbook = await command(['users', 'import', file]);
  expect([workbook.code === 0, workbook.stderr]).toEqual([false, expect.stringContaining('Save it as CSV')]);
});
