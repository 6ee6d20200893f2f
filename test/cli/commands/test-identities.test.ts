import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedTestIdentity, TestIdentity } from '../../../src/contract/users/test-identity.js';
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

const run = (...args: string[]) =>
  runCommand(args, { DATABASE_URL: db.url, SECRET_KEY: 's'.repeat(32), DATA_DIR: folder.path });
const command = (...args: string[]) => run('test-identities', ...args);
const until = new Date(Date.now() + 86_400_000).toISOString().replace('Z', '000Z');

test('postern test-identities creates, lists and deletes test identities, and the doctor warns of them', async () => {
  expect((await command('list')).stdout).toBe('There are no test identities.\n');
  expect((await run('doctor')).stdout).not.toContain('test identities');
  const created = await command('create', '+1 555 123 4567', '--until', until, '--code', '424242');
  expect(created.stdout).toBe(`+15551234567 takes the code 424242 until ${until}.\n`);
  const mail = await command('create', 'Review@Example.com', '--until', until, '--json');
  const issued = JSON.parse(mail.stdout) as IssuedTestIdentity;
  expect(issued).toMatchObject({ identity: { type: 'email', value: 'review@example.com' }, created_by: 'cli' });
  expect(issued.code).toMatch(/^[0-9]{6}$/);
  const { code: _, ...shown } = issued;
  const listed = JSON.parse((await command('list', '--json')).stdout) as TestIdentity[];
  expect(listed).toMatchObject([{ identity: { value: '+15551234567' } }, shown]);
  const table = (await command('list')).stdout;
  expect(table).toContain('review@example.com');
  expect(table).not.toContain(issued.code);
  expect((await run('doctor')).stdout).toContain('warn  test identities: 2 addresses accept fixed codes until');
  for (const { id } of listed) expect((await command('delete', id)).stdout).toBe(`Deleted ${id}.\n`);
  expect((await command('list')).stdout).toBe('There are no test identities.\n');
});

test('postern test-identities refuses invalid values, an identity that exists already, and the deletion of an unknown one', async () => {
  await command('create', 'a@example.com', '--until', until);
  for (const [args, message] of [
    [['create', 'a@example.com', '--until', until], 'already'],
    [['create', 'not a number', '--until', until], 'This is not a valid phone.'],
    [['create', 'b@example.com', '--until', until, '--code', '12'], '--code must be six digits.'],
    [['create', 'b@example.com', '--until', '2020-01-01T00:00:00Z'], 'This is in the past.'],
    [['delete', 'a@example.com'], 'There is no test identity a@example.com.'],
    [['delete', '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11'], 'There is no test identity'],
  ] as const) {
    const { code, stderr } = await command(...args);
    expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining(message)]);
  }
});
