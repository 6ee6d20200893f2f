import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCounts } from '../../../src/notifications/inbox/counts.js';
import { createReadPositions } from '../../../src/notifications/inbox/read-position.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createInboxes } from '../../support/inbox.js';
import { queriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

let db: TestDatabase;
let reader: string;
beforeAll(async () => {
  db = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  const users = await createInboxes(db.database, 2000);
  reader = users[0] ?? '';
  // One user has many, and an average user has few: a plan for the average would read and sort all of this user.
  await db.database.query(
    testSql(
      `insert into notifications (user_id, id, sequence, change_sequence, notification_type, description, created_at, updated_at)
       select user_id, gen_random_uuid(), n, n, 'payment', repeat('A payment ', 20), now(), now()
       from generate_series(1, 5000) n cross join unnest($1::uuid[]) with ordinality as u (user_id, place)
       where place = 1 or n <= 5`,
      [users],
    ),
  );
  await db.database.query(testSql('vacuum (analyze) notifications'));
  // Without them, the planner expects the same in each run.
  await db.database.query(testSql(`delete from pg_statistic where starelid = 'notifications'::regclass`));
});
afterAll(() => db.drop());

/** The most rows of notifications that a query read, planned for any user. */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  const [query] = (await queriesOf(work)).filter(({ text }) => text.includes('notification_states'));
  const { text = '', values = [] } = query ?? {};
  const plan = await db.database.transaction(async (tx) => {
    await tx.query(testSql(`prepare counted as ${text}`));
    await tx.query(testSql('set local plan_cache_mode = force_generic_plan'));
    const given = values.map((value) => `'${Array.isArray(value) ? `{${value}}` : value}'`).join();
    const explained = await tx.query<object>(testSql(`explain (analyze, format json) execute counted (${given})`));
    await tx.query(testSql('deallocate counted'));
    return explained;
  });
  const scans = JSON.stringify(plan).matchAll(/"Relation Name":"notifications"[^{}]*?"Actual Rows":([\d.]+)/g);
  const counts = [...scans].map(([, count]) => Number(count));
  expect(counts.length).toBeGreaterThan(0);
  return Math.max(...counts);
}

test.each([
  ['the counts', 101, () => readCounts(db.database, reader)],
  ['the counts of each type', 1000, () => readCounts(db.database, reader, 'notification_type')],
  ['the marker', 101, () => createReadPositions(db.database, () => undefined).read(reader)],
])('%s read only the newest rows of a user with many unread ones', async (_name, most, work) => {
  const read = await rowsRead(work);
  expect(read).toBeGreaterThan(100);
  expect(read).toBeLessThanOrEqual(most);
});
