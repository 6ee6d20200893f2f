import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runMaintenanceOnce } from '../../src/database/maintenance/tasks.js';
import { countOldKeyUses, recordCurrentKey, reencryptionTask } from '../../src/keys/old-keys.js';
import { countUnreadable } from '../../src/keys/unreadable.js';
import { createSecretKeys, pinKeyNames } from '../../src/lib/crypto/secret-keys.js';
import { newId } from '../../src/lib/ids.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

const [oldKey, newKey] = ['old '.repeat(10), 'new '.repeat(10)];
const before = createSecretKeys([oldKey]);
const during = createSecretKeys([newKey, oldKey]);
const after = createSecretKeys([newKey]);
/** The number of authenticator apps. One step does not encrypt so many secrets. */
const apps = 450;

let test: TestDatabase;
const run = (text: string, values: readonly unknown[] = []) => test.database.query(testSql(text, values));

beforeAll(async () => {
  test = await createTestDatabase();
  const ids = Array.from({ length: apps }, newId);
  const secrets = ids.map((id) => before.encrypt(`secret of ${id}`, `totp:${id}`).toString('hex'));
  await run(
    `insert into totp (user_id, id, secret, last_step, created_at, last_used_at)
     select id, id, decode(secret, 'hex'), 0, now(), now() from unnest($1::uuid[], $2::text[]) as t (id, secret)`,
    [ids, secrets],
  );
  await recordCurrentKey(test.database, before);
  const pin = `${pinKeyNames(before)[0]}$argon2id$…`;
  await run('insert into users (id, username, pin_hash, created_at, updated_at) values ($1, $2, $3, now(), now())', [
    ...[ids[0], 'ada', pin],
  ]);
  await run('insert into recovery_codes (user_id, digest, created_at) values ($1, $2, now())', [
    ids[0],
    Buffer.alloc(32),
  ]);
  await run(
    "insert into suppressions (id, address_digest, key_id, reason, created_at) values ($1, $2, $3, 'manual', now())",
    [newId(), before.digest('address', 'ada@example.com'), before.ids[0]],
  );
  await recordCurrentKey(test.database, during);
});
afterAll(() => test.drop());

describe('a rotation of the secret key', () => {
  it('counts the values that need the old key', async () => {
    expect(await countOldKeyUses(test.database, during)).toEqual([
      { kind: 'secrets of authenticator apps', count: apps },
      { kind: 'PINs', count: 1 },
      { kind: 'recovery codes', count: 1 },
      { kind: 'suppressed addresses', count: 1 },
    ]);
    expect(await countOldKeyUses(test.database, before)).toEqual([]);
  });

  it('encrypts stored secrets again in steps, and continues after an interruption', async () => {
    const { database } = test;
    const task = reencryptionTask(during);
    const first = await database.transaction((tx) => task.step(tx, undefined));
    expect(first.next).toBeDefined();
    const left = await countUnreadable(database, after);
    expect(left[0]?.count).toBeLessThan(apps);
    expect(left[0]?.count).toBeGreaterThan(0);

    // Another process continues at the stored position.
    await database.transaction((tx) => reencryptionTask(during).step(tx, first.next));
    await runMaintenanceOnce(test.database, [reencryptionTask(during)]);
    expect((await countUnreadable(database, after)).map(({ kind, count }) => [kind, count])).toEqual([['PINs', 1]]);
    const rows = await database.query(
      testSql<{ id: string; secret: Buffer }>('select user_id as id, secret from totp order by id limit 3'),
    );
    for (const { id, secret } of rows) expect(after.decrypt(secret, `totp:${id}`)).toBe(`secret of ${id}`);
  });

  it('leaves values that no key decrypts', async () => {
    const foreign = createSecretKeys(['foreign '.repeat(5)]).encrypt('x', 'totp:?');
    await run('update totp set secret = $1 where user_id = (select min(user_id::text)::uuid from totp)', [foreign]);
    await runMaintenanceOnce(test.database, [reencryptionTask(during)]);
    const stored = await run('select secret from totp where secret = $1', [foreign]);
    expect(stored).toHaveLength(1);
  });

  it('counts the recovery codes and the processes of a key that was used between two uses of the current one', async () => {
    const { database } = test;
    const counts = async (keys: typeof before) =>
      (await countOldKeyUses(test.database, keys)).filter(({ kind }) => /recovery|processes/.test(kind));
    const again = createSecretKeys([oldKey, newKey]);
    await run('delete from recovery_codes');
    await run(`insert into recovery_codes (user_id, digest, created_at) values (gen_random_uuid(), '\\x00', now())`);
    await run(`insert into instances (id, host, process_id, version, node, streams, flushes, started_at, seen_at)
      values (gen_random_uuid(), 'here', 1, '1', '20', 0, 1, now(), now())`);
    expect(await counts(during)).toEqual([]);
    await recordCurrentKey(database, again);
    const expected = [
      { kind: 'recovery codes', count: 1 },
      { kind: 'running processes, which you must restart', count: 1 },
    ];
    expect(await counts(again)).toEqual(expected);
    // A further start with the same key changes nothing.
    const since = () => run('select id, current_since from secret_keys order by id');
    const recorded = await since();
    await recordCurrentKey(database, again);
    expect(await since()).toEqual(recorded);
  });
});
