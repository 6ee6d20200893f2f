import { afterAll, beforeAll, expect, test } from 'vitest';
import { runMaintenanceOnce } from '../../src/database/maintenance/tasks.js';
import { statisticsTask } from '../../src/statistics/retention.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

test('sums by minute are kept for 2 days, by hour for 90 days, by day without limit, and lost instances for a day', async () => {
  const { database } = fresh;
  await database.query(
    testSql(`insert into statistics (resolution, starts_at, metric, label, value)
         select 'minute', db_now() - n * interval '1 minute' - interval '2 days', 'locks', '', 1
         from generate_series(-3, 2500) n where n <> 0
         union all
         select 'hour', db_now() - n * interval '1 hour' - interval '90 days', 'locks', '', 1
         from generate_series(-2, 1200) n where n <> 0
         union all
         select 'day', db_now() - n * interval '1 day', 'locks', '', 1 from generate_series(1, 400) n`),
  );
  await database.query(
    testSql(`insert into instances (id, host, process_id, version, node, streams, flushes, started_at, seen_at)
         select gen_random_uuid(), 'h', n, '1', '20', 0, 1, db_now(), db_now() - n * interval '23 hours'
         from generate_series(1, 3) n`),
  );
  expect(await runMaintenanceOnce(database, [statisticsTask])).toBe(2500 + 1200 + 2);
  const left = await database.query(
    testSql(`select resolution, count(*) as rows from statistics where metric = 'locks' group by 1 order by 1`),
  );
  expect(left).toEqual([
    { resolution: 'day', rows: 400 },
    { resolution: 'hour', rows: 2 },
    { resolution: 'minute', rows: 3 },
  ]);
  const [size] = await database.query<{ rows: number; smallest: number }>(
    testSql(`select count(*) as rows, min(value) as smallest from statistics where metric = 'database.size'`),
  );
  expect(size?.rows).toBe(2);
  expect(size?.smallest).toBeGreaterThan(1e6);
  expect(await database.query(testSql('select process_id from instances'))).toEqual([{ process_id: 1 }]);
});
