import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Block } from '../../../src/contract/block.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { runCommand, temporaryFolder } from '../command.js';

let db: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  [db, folder] = await Promise.all([createTestDatabase(), temporaryFolder()]);
});
afterAll(async () => {
  await db.drop();
  await folder.remove();
});

const command = (...args: string[]) =>
  runCommand(['blocks', ...args], { DATABASE_URL: db.url, SECRET_KEY: 's'.repeat(32), DATA_DIR: folder.path });

test('postern blocks adds, lists and removes blocks', async () => {
  expect((await command('list')).stdout).toBe('No address is blocked.\n');
  const until = '2099-01-01T00:00:00.000000Z';
  expect((await command('add', '203.0.113.77/24', '--reason', 'Guesses', '--until', until)).stdout).toBe(
    `Blocked 203.0.113.0/24 until ${until}.\n`,
  );
  expect((await command('add', '2001:DB8::1')).stdout).toBe('Blocked 2001:db8::1.\n');
  const blocks = JSON.parse((await command('list', '--json')).stdout) as Block[];
  expect(blocks.map(({ address, reason, ends_at, created_by }) => [address, reason, ends_at, created_by])).toEqual([
    ['203.0.113.0/24', 'Guesses', until, 'cli'],
    ['2001:db8::1', null, null, 'cli'],
  ]);
  expect((await command('list')).stdout).toContain('2001:db8::1');
  expect((await command('remove', '203.0.113.0/24')).code).toBe(0);
  expect((await command('remove', blocks[1]?.id ?? '')).code).toBe(0);
  expect((await command('list')).stdout).toBe('No address is blocked.\n');
});

test('postern blocks refuses a text that is not an address, and does not remove a block that does not exist', async () => {
  const { code, stderr } = await command('add', 'example.com');
  expect(code).toBe(1);
  expect(stderr).toContain('This must be an IP address, or a range');
  expect(await command('remove', '192.0.2.1')).toMatchObject({ code: 1, stderr: 'There is no block 192.0.2.1.\n' });
});
