import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createDatabase, type Transaction } from '../../src/database/database.js';
import { type OnResult, Query } from '../../src/database/query.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

test('rows have the columns of their own result, also after the columns of the statement changed', async () => {
  await db.database.query(testSql('create table shapes (a bigint)'));
  await db.database.query(testSql('insert into shapes values (1)'));
  const all = testSql('select * from shapes', [], 'shapes_all');
  expect(await db.database.query(all)).toEqual([{ a: 1 }]);
  await db.database.transaction(async (tx) => {
    expect(await tx.query(all)).toEqual([{ a: 1 }]);
    // While this connection is in use, another one prepares the statement for the changed table.
    await tx.query(testSql('commit'));
    await tx.query(testSql(`alter table shapes alter a type text, add b timestamptz default '2026-01-02 03:04:05+00'`));
    expect(await db.database.query(all)).toEqual([{ a: '1', b: '2026-01-02T03:04:05.000000Z' }]);
  });
});

test('rows of one result are separate objects, and nulls stay nulls', async () => {
  const [first, second, third] = await db.database.query<{ n: number | null }>(
    testSql('select n::bigint as n from unnest(array[1, null, 3]) n', [], 'nulls'),
  );
  expect([first, second, third]).toEqual([{ n: 1 }, { n: null }, { n: 3 }]);
  if (first !== undefined) first.n = 7;
  expect(
    await db.database.query(testSql('select n::bigint as n from unnest(array[1, null, 3]) n', [], 'nulls')),
  ).toEqual([{ n: 1 }, { n: null }, { n: 3 }]);
});

test('arrays of ids are read whole: empty, with nulls, of several dimensions, and with other bounds', async () => {
  const [a, b] = ['0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11', 'fb0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a12'];
  for (const [text, expected] of [
    ['{}', []],
    [`{${a}}`, [a]],
    [`{${a},${b}}`, [a, b]],
    [`{${b},NULL,${a}}`, [b, null, a]],
    [`{NULL,${a}}`, [null, a]],
    [`{{${a}},{${b}}}`, [[a], [b]]],
    [`[0:1]={${a},${b}}`, [a, b]],
  ] as const) {
    const [row] = await db.database.query(testSql<{ ids: unknown }>('select $1::uuid[] as ids', [text]));
    expect(row?.ids, text).toEqual(expected);
  }
});

/** Blocks this process, but leaves the CPU to others. */
const block = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** A pool of one connection, and the process that serves it. */
function openSingle() {
  const single = createDatabase({ target: db.target, size: 1, onConnectionError: () => undefined });
  onTestFinished(() => single.close());
  const serverPid = async () => {
    const [row] = await single.query<{ pid: number }>(testSql('select pg_backend_pid() as pid'));
    return row?.pid;
  };
  return { single, serverPid };
}

test('a value that cannot be parsed is an internal error: it fails its own query, and keeps the connection', async () => {
  const { single, serverPid } = openSingle();
  const before = await serverPid();
  const unreadable = testSql(`select 'infinity'::timestamptz as time, n from generate_series(1, 3) n`);
  await expect(single.query(unreadable)).rejects.toMatchObject({ name: 'UnreadableValue' });
  const inTransaction = single.transaction((tx) => tx.query(unreadable));
  await expect(inTransaction).rejects.toMatchObject({ name: 'UnreadableValue' });
  expect(await serverPid()).toBe(before);
});

test('a query whose deadline has passed before it gets a connection is refused and not sent', async () => {
  const { single, serverPid } = openSingle();
  const before = await serverPid();
  const works = [
    () => single.query(testSql('create table overdue ()')),
    () => single.transaction((tx) => tx.query(testSql('create table overdue ()'))),
  ];
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => clock.mockRestore());
  for (const work of works) {
    clock.mockImplementation(now);
    const late = work();
    clock.mockImplementation(() => now() + 5000);
    await expect(late).rejects.toMatchObject({
      ...{ code: 'storage_unavailable', cause: { message: 'the deadline passed before the statement was sent' } },
    });
  }
  clock.mockRestore();
  expect(await serverPid()).toBe(before);
  const [row] = await single.query(testSql("select to_regclass('overdue') as overdue"));
  expect(row).toEqual({ overdue: null });
});

test('the last of several columns with one name counts, also if it is null', async () => {
  expect(await db.database.query(testSql('select 1 as a, null::int as a'))).toEqual([{ a: null }]);
});

test('a value that cannot be sent fails its own query, and its connection is released once', async () => {
  const value = {
    toPostgres() {
      throw new Error('not a value');
    },
  };
  const errors: Error[] = [];
  const note = (error: Error) => void errors.push(error);
  process.once('uncaughtException', note);
  const failing = db.database.query(testSql('select $1::text as a', [value], 'unsendable'));
  await expect(failing).rejects.toThrow();
  expect(await db.database.query(testSql('select 1 as one'))).toEqual([{ one: 1 }]);
  process.off('uncaughtException', note);
  expect(errors).toEqual([]);
});

test('a result that arrives while the process is blocked counts, and a missing one times out', async () => {
  const client = new pg.Client({ ...db.target });
  client.on('error', () => undefined);
  await client.connect();
  const send = (text: string, timeoutMs: number) =>
    new Promise<object[]>((resolve, reject) => {
      const answered: OnResult<object> = (error, rows) => (error === undefined ? resolve(rows) : reject(error));
      client.query(new Query(new Map(), testSql(text), timeoutMs, answered));
    });

  /** Blocks the process until long after the time-out. On a busy machine PostgreSQL may not have answered by then. */
  const sendAndBlock = async () => {
    const result = send('select 1 as one', 50).catch((error: Error) => error.message);
    await new Promise(setImmediate);
    block(1000);
    return result;
  };
  let answer = await sendAndBlock();
  for (let time = 1; time < 10 && typeof answer === 'string'; time += 1) answer = await sendAndBlock();
  expect(answer).toEqual([{ one: 1 }]);

  await expect(send('select pg_sleep(60)', 50)).rejects.toThrow('no answer within 50 ms');
  await client.end();
});

test('a query on a transaction that has ended reaches no connection', async () => {
  const left: { tx?: Transaction } = {};
  await db.database.transaction(async (tx) => {
    left.tx = tx;
  });
  await expect(left.tx?.query(testSql('create table late ()'))).rejects.toThrow('the transaction is over');
  expect(await db.database.query(testSql("select to_regclass('late') as late"))).toEqual([{ late: null }]);
});

test('a transaction whose work swallows the error of a statement fails, and commits nothing', async () => {
  let committed = false;
  const swallowed = db.database.transaction(async (tx) => {
    tx.onCommit(() => {
      committed = true;
    });
    await tx.query(testSql('create table swallowed ()'));
    await tx.query(testSql('select 1 / 0')).catch(() => undefined);
    return 'done';
  });
  await expect(swallowed).rejects.toMatchObject({ code: '22012' });
  expect(committed).toBe(false);
  const [row] = await db.database.query(testSql("select to_regclass('swallowed') as swallowed"));
  expect(row).toEqual({ swallowed: null });
});

test('a feature that PostgreSQL does not support is an internal error, not a failure of the storage', async () => {
  const unsupported = db.database.query(testSql('select count(*) from schema_migrations for update'));
  await expect(unsupported).rejects.toMatchObject({ name: 'error', code: '0A000' });
});

test('a prepared statement whose columns a migration changed fails once, and then works on a new connection', async () => {
  const { database } = db;
  await database.query(testSql('create table migrated (a bigint)'));
  const { single } = openSingle();
  const all = testSql('select * from migrated', [], 'migrated_all');
  const runs = [() => single.query(all), () => single.transaction((tx) => tx.query(all))];
  for (const [index, run] of runs.entries()) {
    expect(await run()).toEqual([]);
    await database.query(testSql(`alter table migrated add added_${index} text`));
    await expect(run()).rejects.toMatchObject({ name: 'Problem', code: 'storage_unavailable' });
    expect(await run()).toEqual([]);
  }
});
