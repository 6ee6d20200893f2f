import { afterAll, beforeAll, expect, test } from 'vitest';
import { tailEvents } from '../../src/webhooks/tail.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase(undefined, { queryTimeout: 60_000 });
});
afterAll(() => db.drop());

/** Stores events of many users at one time, as a notification to all users does. */
const record = (count: number, type: string) =>
  db.database.query(
    testSql(
      `insert into webhook_events (user_id, sequence, id, type, data, created_at)
       select gen_random_uuid(), 1, gen_random_uuid(), $1, '{}', db_now() from generate_series(1, $2::int)`,
      [type, count],
    ),
  );

test('the tail starts with events that are older than its first call by the given age', async () => {
  await record(1, 'user.locked');
  expect(await tailEvents(db.database).next()).toEqual([]);
  const events = await tailEvents(db.database, 60_000).next();
  expect(events.map(({ type }) => type)).toEqual(['user.locked']);
});

test('the tail shows each event once, also after more events at one time than it reads in a step', async () => {
  const tail = tailEvents(db.database);
  expect(await tail.next()).toEqual([]);
  await record(20_001, 'notification.created');
  const first = await tail.next();
  await record(1, 'user.created');
  const events = [...first, ...(await tail.next()), ...(await tail.next())];
  expect(events.filter(({ type }) => type === 'user.created')).toHaveLength(1);
  expect(events).toHaveLength(20_002);
  expect(new Set(events.map(({ id }) => id)).size).toBe(20_002);
});
