import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database, Handle } from '../../src/database/database.js';
import { createCounters } from '../../src/statistics/counters.js';
import { type Reporter, startReporter } from '../../src/statistics/reporter.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());

const setClock = (time: string) =>
  database.query(
    testSql(`create or replace function db_now() returns timestamptz language sql volatile
             as $$ select timestamptz '${time}' $$`),
  );

beforeEach(async () => {
  await database.query(testSql('delete from statistics'));
  await database.query(testSql('delete from instances'));
  await setClock('2026-05-31 23:59:58.5+00');
});

const info = { host: 'one.example', processId: 7, worker: undefined, version: '1.2.3', node: 'v20.19.0' };

function start({
  database: reporterDatabase = database,
  worker,
}: {
  database?: Handle;
  worker?: number;
} = {}): Reporter {
  return startReporter({
    database: reporterDatabase,
    counters: createCounters(),
    instance: { ...info, worker },
    onError: (error) => {
      throw error;
    },
    // Longer than a test.
    interval: 3_600_000,
  });
}

/** A database that calls `after` with the name of each statement that has succeeded. */
const observed = (after: (name: string | undefined) => void): Handle => ({
  transaction: database.transaction,
  async query(statement) {
    const answer = await database.query(statement);
    after(statement.name);
    return answer;
  },
});

const rows = async () => {
  const found = await database.query<{ line: string }>(
    testSql(`select format('%s %s %s %s=%s', resolution, to_char(starts_at at time zone 'UTC', 'DD HH24:MI'), metric,
                           label, value) as line
             from statistics order by resolution desc, starts_at, metric, label`),
  );
  return found.map(({ line }) => line);
};
const instances = () =>
  database.query(
    testSql(`select host, process_id, worker, version, node, streams, started_at, seen_at from instances`),
  );

describe('a flush', () => {
  test('adds the counts to the minute, the hour and the day, under the clock of the database', async () => {
    const reporter = start();
    reporter.counters.add('logins.failed', 'wrong_secret');
    reporter.counters.add('logins.failed', 'wrong_secret', 2);
    reporter.counters.add('devices.new');
    await reporter.flush();
    await setClock('2026-06-01 00:00:00.1+00');
    reporter.counters.add('devices.new');
    await reporter.flush();
    reporter.counters.add('devices.new', '', 3);
    await reporter.flush();
    expect(await rows()).toEqual([
      'minute 31 23:59 devices.new =1',
      'minute 31 23:59 logins.failed wrong_secret=3',
      'minute 01 00:00 devices.new =4',
      'hour 31 23:00 devices.new =1',
      'hour 31 23:00 logins.failed wrong_secret=3',
      'hour 01 00:00 devices.new =4',
      'day 31 00:00 devices.new =1',
      'day 31 00:00 logins.failed wrong_secret=3',
      'day 01 00:00 devices.new =4',
    ]);
    await reporter.stop();
  });

  test('adds counts by category to the day only, and limits the number of labels', async () => {
    const reporter = start();
    reporter.counters.add('deliveries.sent', 'billing', 2, 'email');
    reporter.counters.add('deliveries.sent', 'billing', 1, 'push');
    await reporter.flush();
    expect(await rows()).toEqual(['day 31 00:00 deliveries.sent billing=3']);
    for (let count = 0; count < 300; count += 1) reporter.counters.add('deliveries.sent', `category${count}`);
    await reporter.flush();
    const lines = await rows();
    expect(lines).toHaveLength(258);
    expect(lines).toContain('day 31 00:00 deliveries.sent (other)=44');
    await reporter.stop();
  });

  test('of several instances at once adds up their counts', async () => {
    const reporters = Array.from({ length: 8 }, (_, worker) => start({ worker }));
    const labels = ['a', 'b', 'c', 'email', 'sms'];
    for (let round = 0; round < 5; round += 1) {
      for (const [index, { counters }] of reporters.entries()) {
        // Instances use different orders: flushes of the same rows must not deadlock.
        const order = index % 2 === 0 ? labels : [...labels].reverse();
        for (const label of order) counters.add('messages.sent', label);
      }
      await Promise.all(reporters.map((reporter) => reporter.flush()));
    }
    const minutes = (await rows()).filter((line) => line.startsWith('minute'));
    expect(minutes).toEqual(labels.map((label) => `minute 31 23:59 messages.sent ${label}=40`));
    expect(await instances()).toHaveLength(8);
    await Promise.all(reporters.map((reporter) => reporter.stop()));
  });

  test('whose answer was lost is repeated, and counts once', async () => {
    let isLossy = false;
    const reporter = start({
      database: observed((name) => {
        if (isLossy && name === 'statistics_flush') throw new Error('the connection broke');
      }),
    });
    await reporter.flush();
    reporter.counters.add('sessions.verified', '', 5);
    isLossy = true;
    await expect(reporter.flush()).rejects.toThrow('the connection broke');
    await expect(reporter.flush()).rejects.toThrow('the connection broke');
    isLossy = false;
    reporter.counters.add('sessions.verified', '', 2);
    await reporter.flush();
    expect((await rows())[0]).toBe('minute 31 23:59 sessions.verified =7');
    await reporter.stop();
  });

  test('that did not reach the database loses no counts', async () => {
    let isAway = false;
    const reporter = start({
      database: {
        transaction: database.transaction,
        query: (statement) => (isAway ? Promise.reject(new Error('away')) : database.query(statement)),
      },
    });
    await reporter.flush();
    isAway = true;
    reporter.counters.add('sessions.created', '', 5);
    await expect(reporter.flush()).rejects.toThrow('away');
    reporter.counters.add('sessions.created');
    isAway = false;
    await reporter.flush();
    expect((await rows())[0]).toBe('minute 31 23:59 sessions.created =6');
    await reporter.stop();
  });

  test('without new counts writes no sums', async () => {
    const reporter = start();
    await reporter.flush();
    await reporter.flush();
    expect(await rows()).toEqual([]);
    await reporter.stop();
  });
});

test('an idle instance writes nothing for many intervals', async () => {
  let writes = 0;
  let measurements = 0;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const reporter = startReporter({
    database: observed((name) => {
      if (name === 'statistics_flush') writes += 1;
      if (name === 'statistics_queue_age') measurements += 1;
      if (measurements === 20) finish();
    }),
    counters: createCounters(),
    instance: info,
    onError: () => undefined,
    interval: 1,
  });
  await finished;
  // The first flush writes the row of the instance.
  expect(writes).toBe(1);
  await reporter.stop();
});

test('a stop writes the last counts, and the instance is no longer listed', async () => {
  const reporter = start({ worker: 3 });
  await reporter.flush();
  const time = '2026-05-31T23:59:58.500000Z';
  expect(await instances()).toEqual([
    {
      ...{ host: 'one.example', process_id: 7, worker: 3, version: '1.2.3', node: 'v20.19.0' },
      ...{ streams: 0, started_at: time, seen_at: time },
    },
  ]);
  reporter.counters.add('notifications.published', '', 4);
  await reporter.stop();
  expect((await rows())[0]).toBe('minute 31 23:59 notifications.published =4');
  expect(await instances()).toEqual([]);
});

test('open streams are stored as streams times seconds, and shown with the instance', async () => {
  const reporter = start();
  await reporter.flush();
  reporter.watchStreams(() => 1000);
  await reporter.flush();
  const [sum] = await database.query<{ value: number }>(
    testSql(`select value from statistics where metric = 'streams.open' and resolution = 'minute'`),
  );
  expect(sum?.value).toBeGreaterThan(0);
  expect(await instances()).toMatchObject([{ streams: 1000 }]);
  await reporter.stop();
});

test('queue.age keeps the largest measured age of the oldest due job, also if many younger jobs are due', async () => {
  await database.query(
    testSql(`select count(*) from graphile_worker.add_jobs(array(
               select row(job, '{}', null, now() + due, null, null, priority, null)::graphile_worker.job_spec
               from (values ('slow', 1, interval '-3 hours', 10), ('quick', 6000, '-1 minute', 0),
                            ('later', 1, '1 hour', 20)) jobs (job, amount, due, priority),
                 generate_series(1, amount)))`),
  );
  const age = async () => {
    const [row] = await database.query<{ value: number }>(
      testSql(`select value from statistics where metric = 'queue.age' and resolution = 'hour'`),
    );
    return row?.value ?? 0;
  };
  const reporter = start();
  await reporter.flush();
  const oldest = await age();
  expect(oldest).toBeGreaterThanOrEqual(3 * 3600);
  await database.query(testSql('select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))'));
  await reporter.flush();
  expect(await age()).toBe(oldest);
  await reporter.stop();
});
