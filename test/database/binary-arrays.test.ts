import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textArrayText } from '../../src/database/array-text.js';
import { bigintArray, readBigint, readTime, timeArray, uuidArray } from '../../src/database/binary-arrays.js';
import { instantsOfMicroseconds } from '../../src/lib/times.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** The values that PostgreSQL reads from an array. */
async function read<T>(type: string, array: unknown): Promise<T[]> {
  const rows = await db.database.query<{ value: T }>(testSql(`select unnest($1::${type}[]) as value`, [array]));
  return rows.map(({ value }) => value);
}

describe('an array', () => {
  test('keeps ids in upper and lower case, at both ends of their range', async () => {
    const ids = [randomUUID(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
    expect(await read('uuid', uuidArray(ids))).toEqual(ids);
    expect(await read('uuid', uuidArray(ids.map((id) => id.toUpperCase())))).toEqual(ids);
    expect(await read('uuid', uuidArray([]))).toEqual([]);
  });

  test('keeps safe integers', async () => {
    const numbers = [0, 1, -1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER];
    expect(await read('bigint', bigintArray(numbers))).toEqual(numbers);
    const [sent] = await db.database.query<{ bytes: Buffer }>(
      testSql(
        `select string_agg(int8send(n), '' order by place) as bytes
           from unnest($1::bigint[]) with ordinality as numbers (n, place)`,
        [bigintArray(numbers)],
      ),
    );
    expect(numbers.map((_, index) => sent && readBigint(sent.bytes, index))).toEqual(numbers);
  });

  test('keeps times with microseconds, also in distant years', async () => {
    const times = ['2000-01-01T00:00:00.000000Z', '2026-02-03T04:05:06.000007Z', '3000-01-01T00:00:00.000001Z'];
    const [sent] = await db.database.query<{ bytes: Buffer }>(
      testSql(
        `select string_agg(timestamptz_send(time), '' order by time) as bytes from unnest($1::timestamptz[]) time`,
        [times],
      ),
    );
    const bytes = sent?.bytes ?? Buffer.alloc(0);
    const values = BigInt64Array.from(times, (_, index) => readTime(bytes, index));
    expect(await read('timestamptz', timeArray(values))).toEqual(times);
    expect(Array.from(values, instantsOfMicroseconds())).toEqual(times);
  });

  test('keeps any texts', async () => {
    const texts = ['', 'NULL', null, 'null', 'a "quoted" one', '\\', '\\"', '{}', 'a,b', ' ', '\n\t', 'Ωλ😀', "it's"];
    expect(await read('text', textArrayText(texts))).toEqual(texts);
  });
});
