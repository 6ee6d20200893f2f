import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { topicsTask } from '../../../src/notifications/retention/topics.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

test('a deleted topic goes with all its subscriptions, in steps, and others stay', async () => {
  const [kept, deleted, empty] = [randomUUID(), randomUUID(), randomUUID()];
  const { database } = fresh;
  await database.query(
    testSql(
      `insert into topics (id, key, title, is_open, created_at, updated_at)
       values ($1, 'kept', '', false, db_now(), db_now()), ($2, null, '', false, db_now(), db_now()),
              ($3, null, '', false, db_now(), db_now())`,
      [kept, deleted, empty],
    ),
  );
  const subscribe = `insert into subscriptions select $1, gen_random_uuid(), db_now() from generate_series(1, $2::int)`;
  await database.query(testSql(subscribe, [kept, 3]));
  await database.query(testSql(subscribe, [deleted, 4001]));
  let [removed, steps] = [0, 0];
  for (let isDone = false; !isDone; steps += 1) {
    const step = await database.transaction((tx) => topicsTask.step(tx, undefined));
    expect(step.removed).toBeLessThanOrEqual(2000);
    removed += step.removed;
    isDone = step.next === undefined;
  }
  expect([removed, steps > 3]).toEqual([4001, true]);
  expect(
    await database.query(testSql('select key, (select count(*)::int from subscriptions) as n from topics')),
  ).toEqual([{ key: 'kept', n: 3 }]);
});
