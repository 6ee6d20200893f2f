import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecretKeys } from '../../../src/lib/crypto/secret-keys.js';
import { ensureSigningKeys } from '../../../src/sessions/access-tokens/signing-keys.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';
import { runCommand, temporaryFolder } from '../command.js';

const secret = 's'.repeat(32);
let db: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  [db, folder] = await Promise.all([createTestDatabase(), temporaryFolder()]);
});
afterAll(async () => {
  await db.drop();
  await folder.remove();
});

const rotate = (...options: string[]) =>
  runCommand(['signing-keys', 'rotate', ...options], {
    ...{ DATABASE_URL: db.url, SECRET_KEY: secret, DATA_DIR: folder.path },
  });
const keys = () =>
  db.database.query<{ id: string; signs_since: string | null }>(
    testSql('select id, signs_since from signing_keys order by signs_since nulls last'),
  );

test('postern signing-keys rotate: without keys, planned, at once, and with the current key withdrawn', async () => {
  expect(await rotate()).toMatchObject({
    code: 0,
    stdout: 'There are no keys yet: the first audience creates them.\n',
  });
  await db.database.transaction((tx) => ensureSigningKeys(tx, createSecretKeys([secret]), 'ES256'));
  const [first, second] = await keys();
  expect(second?.signs_since).toBeNull();

  const now = await rotate('--now');
  expect(now).toMatchObject({ code: 0, stderr: '' });
  expect(now.stdout).toMatch(new RegExp(`^ES256: the key ${second?.id} signs from \\S+ on\\.\n$`));
  expect((await keys()).map(({ id }) => id)).toContain(first?.id);

  const revoked = await rotate('--revoke');
  expect(revoked.code).toBe(0);
  const left = (await keys()).map(({ id }) => id);
  expect(left).not.toContain(second?.id);

  const planned = await rotate();
  expect(planned).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ES256: the key \S+ signs from \S+ on\.\n$/),
  });
  expect(await rotate('--now', '--revoke')).toMatchObject({
    ...{ code: 1, stderr: '--revoke implies --now: give one of them\n' },
  });
});
