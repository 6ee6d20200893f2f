import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

// The statements of the former release on the tables that migration 0011 has renamed, as that release writes them.

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

const rows = <Row extends object>(text: string) => fresh.database.query<Row>(testSql(text));
const id = (digit: number) => `'00000000-0000-0000-0000-00000000000${digit}'`;

test('publishing and the fan-out of the former release share the rows of this one', async () => {
  const insert = (table: string, digit: number) =>
    `insert into ${table} (id, user_ids, notification_ids, size, created_at)
     values (${id(digit)}, array[${id(digit)}::uuid], array[${id(digit)}::uuid], 1, db_now())`;
  await fresh.database.transaction(async (tx) => {
    await tx.query(testSql(`select set_config('postern.traceparent', 'a-trace', true)`));
    await tx.query(testSql(insert('publications', 1)));
    await tx.query(testSql(insert('push_fan_outs', 2)));
  });
  expect(await rows('select id, traceparent from push_fan_outs order by id')).toEqual([
    { id: id(1).slice(1, -1), traceparent: 'a-trace' },
    { id: id(2).slice(1, -1), traceparent: 'a-trace' },
  ]);
  const take = (table: string) => `
    select p.id from ${table} p
    where p.id in (select id from ${table} where due_at is null or due_at <= db_now() order by created_at, id limit 1)
    for update skip locked`;
  for (const [first, second] of [
    ['publications', 'push_fan_outs'],
    ['push_fan_outs', 'publications'],
  ] as const) {
    await fresh.database.transaction(async (tx) => {
      expect(await tx.query(testSql(take(first)))).toHaveLength(1);
      // Another connection skips the locked row.
      expect(await rows(take(second))).toEqual([]);
    });
  }
  await rows(`update publications p set due_at = db_now() + interval '1 hour'
              from (values (${id(1)}::uuid)) rest (publication) where p.id = rest.publication`);
  expect(await rows(`select id from push_fan_outs where due_at is not null`)).toHaveLength(1);
  await rows(`delete from publications where id = any (array[${id(1)}]::uuid[])`);
  await rows(`delete from publications where (id) in
    (select id from publications where created_at < db_now() order by created_at limit 10 for update skip locked)`);
  expect(await rows('select id from push_fan_outs')).toEqual([]);
});

test('one release at a time runs a maintenance task', async () => {
  const add = (table: string) =>
    `insert into ${table} (name, due_at) select 'some task', db_now()
     where not exists (select from ${table} where name = 'some task') on conflict do nothing`;
  const lock = (table: string) => `select position from ${table} where name = 'some task' for update skip locked`;
  await rows(add('chores'));
  await rows(add('maintenance_tasks'));
  await fresh.database.transaction(async (tx) => {
    expect(await tx.query(testSql(lock('chores')))).toHaveLength(1);
    expect(await rows(lock('maintenance_tasks'))).toEqual([]);
    await tx.query(testSql(`update chores set position = '{"a":"1"}', due_at = db_now() where name = 'some task'`));
  });
  expect(await rows(lock('maintenance_tasks'))).toEqual([{ position: { a: '1' } }]);
});

test('a DPoP proof that one release has accepted is refused by the other', async () => {
  const use = (table: string) =>
    `insert into ${table} (user_id, digest, used_at) values (${id(1)}, 'proof', db_now())
     on conflict do nothing returning user_id`;
  expect(await rows(use('used_proofs'))).toHaveLength(1);
  expect(await rows(use('used_dpop_proofs'))).toEqual([]);
  expect(await rows(`select from used_proofs u where u.user_id = ${id(1)} and u.digest = 'proof'`)).toHaveLength(1);
  await rows(`delete from used_proofs where user_id = ${id(1)}`);
  expect(await rows(use('used_dpop_proofs'))).toHaveLength(1);
});
