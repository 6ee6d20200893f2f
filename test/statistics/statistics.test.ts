import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Metric } from '../../src/contract/operation/statistics.js';
import { Problem } from '../../src/lib/problem.js';
import { parseTime } from '../../src/lib/times.js';
import { createStatistics, type Statistics, type StatisticsRequest } from '../../src/statistics/statistics.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

let fresh: TestDatabase;
let statistics: Statistics;
const now = '2026-06-10T12:07:30.250000Z';

beforeAll(async () => {
  fresh = await createTestDatabase();
  statistics = createStatistics(fresh.database);
  await fresh.database.query(
    testSql(`create or replace function db_now() returns timestamptz language sql volatile
             as $$ select timestamptz '${now}' $$`),
  );
  await fresh.database.query(
    testSql(`insert into statistics (resolution, starts_at, metric, label, value) values
      ('minute', '2026-06-10 12:01Z', 'logins.failed', 'wrong_secret', 2),
      ('minute', '2026-06-10 12:04Z', 'logins.failed', 'wrong_secret', 3),
      ('minute', '2026-06-10 12:04Z', 'logins.failed', 'locked_by_guesses', 1),
      ('minute', '2026-06-10 12:07Z', 'logins.failed', 'wrong_secret', 7),
      ('minute', '2026-06-10 12:06Z', 'streams.open', '', 300),
      ('minute', '2026-06-10 12:07Z', 'streams.open', '', 150),
      ('minute', '2026-06-10 12:06Z', 'queue.age', '', 4.5),
      ('minute', '2026-06-10 12:07Z', 'queue.age', '', 1.5),
      ('minute', '2026-06-10 12:06Z', 'queue.jobs', 'message.send', 8),
      ('minute', '2026-06-10 12:06Z', 'queue.latency', 'message.send', 2),
      ('minute', '2026-06-10 12:07Z', 'queue.jobs', 'user.erase', 2),
      ('minute', '2026-06-10 12:07Z', 'queue.latency', 'user.erase', 3),
      ('hour', '2026-06-10 05:00Z', 'devices.new', '', 5),
      ('hour', '2026-06-10 06:00Z', 'devices.new', '', 6),
      ('hour', '2026-06-10 11:00Z', 'devices.new', '', 11),
      ('day', '2025-01-01 00:00Z', 'locks', 'operator', 1),
      ('day', '2025-01-03 00:00Z', 'locks', 'guesses', 3)`),
  );
});
afterAll(() => fresh.drop());

const instant = (text: string) => {
  const time = parseTime(text);
  if (time === undefined) throw new Error(`${text} is no time`);
  return time;
};
const request = (
  metrics: readonly Metric[],
  { from, to, step }: { from?: string; to?: string; step?: StatisticsRequest['step'] } = {},
): StatisticsRequest => ({
  metrics,
  from: from === undefined ? undefined : instant(from),
  to: to === undefined ? undefined : instant(to),
  step,
});
const errorsOf = async (given: StatisticsRequest) => {
  const error: unknown = await statistics.read(given).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof Problem ? error.options.errors : error;
};

describe('buckets', () => {
  test('start at multiples of the step in UTC, include the running one, and are zero where nothing happened', async () => {
    const answer = await statistics.read(
      request(['logins.failed'], { from: '2026-06-10T14:02:59+02:00', to: '2026-06-10 12:07:01', step: '1m' }),
    );
    expect(answer).toMatchObject({
      from: '2026-06-10T12:02:00.000000Z',
      to: '2026-06-10T12:08:00.000000Z',
      now,
      step: '1m',
      buckets: [2, 3, 4, 5, 6, 7].map((minute) => `2026-06-10T12:0${minute}:00.000000Z`),
    });
    expect(answer.metrics).toEqual([
      {
        metric: 'logins.failed',
        kind: 'counter',
        total: 11,
        values: [0, 0, 4, 0, 0, 7],
        labels: [
          { label: 'locked_by_guesses', total: 1, values: [0, 0, 1, 0, 0, 0] },
          { label: 'wrong_secret', total: 10, values: [0, 0, 3, 0, 0, 7] },
        ],
      },
    ]);
  });

  test('that are longer than the stored ones add the stored sums', async () => {
    const sixHours = await statistics.read(
      request(['devices.new'], { from: '2026-06-10 00:00:00', to: '2026-06-10 12:00:00', step: '6h' }),
    );
    expect(sixHours.metrics[0]?.values).toEqual([5, 17]);
    const fiveMinutes = await statistics.read(
      request(['logins.failed'], { from: '2026-06-10 12:00:00', to: '2026-06-10 12:10:00', step: '5m' }),
    );
    expect(fiveMinutes.metrics[0]?.values).toEqual([6, 7]);
  });

  test('of days reach back without a limit', async () => {
    const answer = await statistics.read(
      request(['locks', 'devices.new'], { from: '2025-01-01 00:00:00', to: '2025-01-04 00:00:00', step: '1d' }),
    );
    expect(answer.metrics).toMatchObject([
      { metric: 'locks', total: 4, values: [1, 0, 3] },
      { metric: 'devices.new', total: 0, values: [0, 0, 0], labels: [] },
    ]);
  });
});

test('a gauge is an average over the time that has passed, a highest value, or a mean, depending on the metric', async () => {
  const { metrics } = await statistics.read(
    request(['streams.open', 'queue.age', 'queue.latency', 'queue.jobs'], { from: '2026-06-10 12:05:30', step: '1m' }),
  );
  // 300 stream seconds in a minute, and 150 in the 30.25 seconds of the running one.
  const [streams, age, latency, jobs] = metrics;
  expect(streams?.values).toEqual([0, 5, 150 / 30.25]);
  expect(streams?.total).toBeCloseTo(450 / 150.25, 10);
  expect(age).toMatchObject({ total: 4.5, values: [0, 4.5, 1.5] });
  expect(latency).toMatchObject({ total: 0.5, values: [0, 0.25, 1.5] });
  expect(latency?.labels).toEqual([
    { label: 'message.send', total: 0.25, values: [0, 0.25, 0] },
    { label: 'user.erase', total: 1.5, values: [0, 0, 1.5] },
  ]);
  expect(jobs).toMatchObject({ total: 10, values: [0, 8, 2] });
});

describe('without a step', () => {
  test.each([
    ['2026-06-10 11:07:30', '1m'],
    ['2026-06-09 12:07:30', '5m'],
    ['2026-06-03 12:07:30', '1h'],
    ['2026-05-11 12:07:30', '6h'],
    ['2026-01-01 00:00:00', '1d'],
  ])('a request from %s gets the step %s', async (from, step) => {
    expect(await statistics.read(request(['locks'], { from }))).toMatchObject({ step });
  });

  test('a request without a time span gets the last day', async () => {
    const answer = await statistics.read(request(['locks']));
    expect(answer).toMatchObject({ from: '2026-06-09T12:05:00.000000Z', to: '2026-06-10T12:10:00.000000Z' });
  });
});

describe('refuses', () => {
  test('a step whose sums are no longer kept, and names the allowed steps', async () => {
    const expected = await errorsOf(
      request(['locks'], { from: '2026-06-08 12:00:00', to: '2026-06-08 13:00:00', step: '1m' }),
    );
    expect(expected).toEqual([{ field: 'step', code: 'step_too_short', params: { max: 1500, allowed: '1h, 6h, 1d' } }]);
    expect(await errorsOf(request(['locks'], { from: '2026-03-01 00:00:00', step: '6h' }))).toMatchObject([
      { params: { allowed: '1d' } },
    ]);
  });

  test('a step shorter than a day for counts by category, and without a step there are days', async () => {
    const metric = 'deliveries.sent';
    expect(await errorsOf(request(['locks', metric], { from: '2026-06-08 12:00:00', step: '1h' }))).toMatchObject([
      { field: 'step', code: 'step_too_short', params: { allowed: '1d' } },
    ]);
    expect(await statistics.read(request([metric]))).toMatchObject({ step: '1d' });
  });

  test('more buckets than an answer may have', async () => {
    expect(await errorsOf(request(['locks'], { from: '2026-06-09 11:00:00', step: '1m' }))).toMatchObject([
      { field: 'step', params: { allowed: '5m, 15m, 1h, 6h, 1d' } },
    ]);
    expect(await errorsOf(request(['locks'], { from: '2000-01-01 00:00:00' }))).toEqual([
      { field: 'from', code: 'step_too_short', params: { max: 1500 } },
    ]);
  });

  test('a time span that does not end after its start', async () => {
    const expected = [{ field: 'to', code: 'not_later', params: { field: 'from' } }];
    expect(await errorsOf(request(['locks'], { from: now, to: now }))).toEqual(expected);
    expect(await errorsOf(request(['locks'], { from: '2026-06-11 00:00:00' }))).toEqual(expected);
  });
});
