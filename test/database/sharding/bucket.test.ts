import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bucketCount, bucketOf } from '../../../src/database/sharding/bucket.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** Tables store these numbers: they must never change. */
const vectors = {
  '00000000-0000-0000-0000-000000000000': 884,
  '00000000-0000-0000-0000-000000000001': 1987,
  'ffffffff-ffff-ffff-ffff-ffffffffffff': 1452,
  '0190a5e4-7c1b-7d3a-9a42-3f1c5b2e8d61': 3536,
};

test('the bucket of a user never changes', () => {
  expect(Object.fromEntries(Object.keys(vectors).map((id) => [id, bucketOf(id)]))).toEqual(vectors);
});

test('each notation of an id has the same bucket', () => {
  const id = '0190a5e4-7c1b-7d3a-9a42-3f1c5b2e8d61';
  for (const text of [id.toUpperCase(), id.replaceAll('-', ''), `{${id}}`]) expect(bucketOf(text)).toBe(bucketOf(id));
  expect(() => bucketOf('no-uuid')).toThrow('not a UUID');
});

test('the database computes the same bucket', async () => {
  const ids = [...Object.keys(vectors), ...Array.from({ length: 500 }, () => randomUUID())];
  const rows = await db.database.everyone.query(
    testSql<{ bucket: number }>(
      'select user_bucket(id)::int as bucket from unnest($1::uuid[]) with ordinality as t (id, nth) order by nth',
      [ids],
    ),
  );
  expect(rows.map(({ bucket }) => bucket)).toEqual(ids.map(bucketOf));
});

test('ids that follow each other are spread evenly', () => {
  const counts = new Array<number>(bucketCount).fill(0);
  const users = bucketCount * 50;
  for (let n = 0; n < users; n += 1) {
    const bucket = bucketOf(`0190a5e4-7c1b-7d3a-9a42-${n.toString(16).padStart(12, '0')}`);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(15);
  expect(Math.max(...counts)).toBeLessThan(100);
});
