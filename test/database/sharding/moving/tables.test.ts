import { afterAll, beforeAll, expect, test } from 'vitest';
import { stayingTables, userTables, workTables } from '../../../../src/database/sharding/moving/tables.js';
import { createTestDatabase, type TestDatabase } from '../../../support/database.js';
import { testSql } from '../../../support/sql.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

test('every table with a column user_id is in one of the lists: tables whose rows move with the users, or tables whose rows stay', async () => {
  const rows = await db.database.everyone.query(
    testSql<{ name: string }>(
      `select table_name::text as name from information_schema.columns
       where table_schema = 'public' and column_name = 'user_id'`,
      [],
    ),
  );
  const listed = [...userTables, ...workTables].map(({ name }) => name).filter((name) => name !== 'users');
  expect(rows.map(({ name }) => name).sort()).toEqual([...listed, ...stayingTables].sort());
});
