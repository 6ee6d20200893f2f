import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBlockList } from '../../../src/limits/admission/block-list.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

test('a block ends by the clock of the process, an hour after it was read', async () => {
  const address = '203.0.113.7';
  await testDatabase.database.query(
    testSql(
      `insert into address_blocks (id, network, ends_at, created_by, created_at)
       values (gen_random_uuid(), $1::cidr, db_now() + interval '1 hour', 'sql', db_now())`,
      [address],
    ),
  );
  let now = 5000;
  const list = await startBlockList({ database: testDatabase.database, onError: () => undefined, now: () => now });
  try {
    expect(list.isBlocked(address)).toBe(true);
    // The time between the insert and the read is not known. It is less than a minute.
    now += 59 * 60_000;
    expect(list.isBlocked(address)).toBe(true);
    now += 60_000;
    expect(list.isBlocked(address)).toBe(false);
  } finally {
    await list.stop();
  }
});
