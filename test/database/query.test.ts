import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepared, sql, type Transaction } from '../../src/database/database.js';
import { type Answered, Query } from '../../src/database/query.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

test('rows have the columns of their own answer, also where the same statement gave others before', async () => {
  await db.database.query(sql('create table shapes (a bigint)'));
  await db.database.query(sql('insert into shapes values (1)'));
  const all = prepared('shapes_all', 'select * from shapes');
  expect(await db.database.query(all)).toEqual([{ a: 1 }]);
  await db.database.transaction(async (tx) => {
    expect(await tx.query(all)).toEqual([{ a: 1 }]);
    // While this connection is taken, another one prepares the statement for the table as it is then.
    await tx.query(sql('commit'));
    await tx.query(sql(`alter table shapes alter a type text, add b timestamptz default '2026-01-02 03:04:05+00'`));
    expect(await db.database.query(all)).toEqual([{ a: '1', b: '2026-01-02T03:04:05.000000Z' }]);
  });
});

test('rows of one answer share nothing, and nulls stay nulls', async () => {
  const [first, second, third] = await db.database.query<{ n: number | null }>(
    prepared('nulls', 'select n::bigint as n from unnest(array[1, null, 3]) n'),
  );
  expect([first, second, third]).toEqual([{ n: 1 }, { n: null }, { n: 3 }]);
  if (first !== undefined) first.n = 7;
  expect(await db.database.query(prepared('nulls', 'select n::bigint as n from unnest(array[1, null, 3]) n'))).toEqual([
    { n: 1 },
    { n: null },
    { n: 3 },
  ]);
});

test('a value that cannot be read fails its own query, and no other', async () => {
  const failing = db.database.query(sql(`select 'infinity'::timestamptz as time, n from generate_series(1, 3) n`));
  await expect(failing).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(await db.database.query(sql('select 1 as one'))).toEqual([{ one: 1 }]);
});

test('of columns of one name the last one counts, also where it is null', async () => {
  expect(await db.database.query(sql('select 1 as a, null::int as a'))).toEqual([{ a: null }]);
});

test('a value that cannot be sent fails its own query, and its connection is given back once', async () => {
  const value = {
    toPostgres() {
      throw new Error('not a value');
    },
  };
  const faults: Error[] = [];
  const note = (error: Error) => void faults.push(error);
  process.once('uncaughtException', note);
  const failing = db.database.query(prepared('unsendable', 'select $1::text as a'), [value]);
  await expect(failing).rejects.toThrow();
  expect(await db.database.query(sql('select 1 as one'))).toEqual([{ one: 1 }]);
  process.off('uncaughtException', note);
  expect(faults).toEqual([]);
});

test('an answer that came while the process stood still counts, and one that does not come is not waited for', async () => {
  const client = new pg.Client({ ...db.target });
  client.on('error', () => undefined);
  await client.connect();
  const ask = (text: string, patience: number) =>
    new Promise<object[]>((resolve, reject) => {
      const answered: Answered<object> = (error, rows) => (error === undefined ? resolve(rows) : reject(error));
      client.query(new Query(new Map(), { text }, [], patience, answered));
    });

  const asked = ask('select 1 as one', 50);
  await new Promise(setImmediate);
  const until = performance.now() + 1000;
  while (performance.now() < until);
  expect(await asked).toEqual([{ one: 1 }]);

  await expect(ask('select pg_sleep(60)', 50)).rejects.toThrow('no answer within 50 ms');
  await client.end();
});

test('what is asked in a transaction after its end reaches no connection', async () => {
  const left: { tx?: Transaction } = {};
  await db.database.transaction(async (tx) => {
    left.tx = tx;
  });
  await expect(left.tx?.query(sql('create table late ()'))).rejects.toThrow('the transaction is over');
  expect(await db.database.query(sql("select to_regclass('late') as late"))).toEqual([{ late: null }]);
});
