import {
  isDaily,
  type Metric,
  type MetricKind,
  type MetricStatistics,
  maxBuckets,
  metrics,
  type Statistics as StatisticsResponse,
  type Step,
  stepNames,
  steps,
} from '../contract/operation/statistics.js';
import type { Handle } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { throwIfErrors } from '../lib/problem.js';
import { type Instant, instantOfSeconds, secondsOf } from '../lib/times.js';

/** The stored sums of all instances. */
export interface Statistics {
  /** @throws Problem `validation_failed` for an empty time span, or a step that is too short for it */
  read(request: StatisticsRequest): Promise<StatisticsResponse>;
}

export interface StatisticsRequest {
  readonly metrics: readonly Metric[];
  /** The default is a day before `to`. */
  readonly from: Instant | undefined;
  /** The default is now. */
  readonly to: Instant | undefined;
  /** The default is the shortest step with at most 300 buckets that all metrics have for the whole time. If there is none, a day. */
  readonly step: Step | undefined;
}

type Resolution = 'minute' | 'hour' | 'day';

/** Seconds for which the sums of each resolution are kept. A bucket that begins earlier may be incomplete. */
export const retentionSeconds = {
  minute: 2 * 86_400,
  hour: 90 * 86_400,
  day: Number.POSITIVE_INFINITY,
} as const satisfies Record<Resolution, number>;
/** Seconds between two runs of the task that removes older sums. */
export const removalPauseSeconds = 3600;

const resolutionOf: Readonly<Record<Step, Resolution>> = {
  '1m': 'minute',
  '5m': 'minute',
  '15m': 'minute',
  '1h': 'hour',
  '6h': 'hour',
  '1d': 'day',
};

/** The number of jobs. The only mean, `queue.latency`, is the sum of the latencies divided by it. */
const divisorOfMean = 'queue.jobs' as const;

const daySeconds = 86_400;
const defaultMaxBuckets = 300;

const readClock = statement<Record<never, never>, { now: Instant }>(
  'statistics_clock',
  () => sql`select db_now() as now`,
);

interface SumRow {
  readonly metric: Metric;
  readonly label: string;
  /** The start of the bucket, in seconds since 1970. */
  readonly at: number;
  readonly sum: number;
  readonly highest: number;
}

const readSums = statement<
  { metrics: readonly Metric[]; resolution: Resolution; step: number; from: number; to: number },
  SumRow
>(
  'statistics_read',
  (p) => sql`
  select metric, label, at, sum(value) as sum, max(value) as highest
  from statistics
  cross join lateral (select extract(epoch from date_bin(${p.step}::float8 * interval '1 second', starts_at,
                                                         timestamptz 'epoch'))::float8 as at) bucket
  where resolution = ${p.resolution} and starts_at >= to_timestamp(${p.from}::float8)
    and starts_at < to_timestamp(${p.to}::float8) and metric = any(${p.metrics}::text[])
  group by metric, label, at
  order by label`,
);

/** Creates the service that reads the stored sums. */
export function createStatistics(database: Handle): Statistics {
  return {
    async read(request) {
      const [clock] = await database.query(readClock({}));
      if (clock === undefined) throw new Error('the clock returned no row');
      const span = parseSpan(request, clock.now);
      const { from, to, step } = span;
      const seconds = steps[step];
      const metricsToRead = request.metrics.includes('queue.latency')
        ? [...request.metrics, divisorOfMean]
        : request.metrics;
      const rows = await database.query(
        readSums({ metrics: metricsToRead, resolution: resolutionOf[step], step: seconds, from, to }),
      );
      const starts = Array.from({ length: (to - from) / seconds }, (_, index) => from + index * seconds);
      return {
        from: instantOfSeconds(from),
        to: instantOfSeconds(to),
        now: clock.now,
        step,
        buckets: starts.map(instantOfSeconds),
        metrics: request.metrics.map((metric) => combine(metric, rows, { starts, seconds, now: span.now })),
      };
    },
  };
}

/** Times in seconds since 1970. `from` and `to` are multiples of the step. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly now: number;
  readonly step: Step;
}

function parseSpan({ metrics: names, from, to, step }: StatisticsRequest, clock: Instant): Span {
  const now = secondsOf(clock);
  const end = to === undefined ? now : secondsOf(to);
  const start = from === undefined ? end - daySeconds : secondsOf(from);
  if (start >= end) throwIfErrors([{ field: 'to', code: 'not_later', params: { field: 'from' } }]);
  const needsDays = names.some(isDaily);
  const isAllowed = (candidate: Step, maxCount: number) =>
    (!needsDays || resolutionOf[candidate] === 'day') &&
    countBuckets(start, end, candidate) <= maxCount &&
    now - start <= retentionSeconds[resolutionOf[candidate]];
  if (step !== undefined && !isAllowed(step, maxBuckets)) {
    const allowed = stepNames.filter((candidate) => isAllowed(candidate, maxBuckets)).join(', ');
    throwIfErrors([
      { field: 'step', code: 'step_too_short', params: { max: maxBuckets, ...(allowed && { allowed }) } },
    ]);
  }
  const effectiveStep = step ?? stepNames.find((candidate) => isAllowed(candidate, defaultMaxBuckets)) ?? '1d';
  // The request names no step, and even with steps of a day there are too many buckets.
  if (countBuckets(start, end, effectiveStep) > maxBuckets) {
    throwIfErrors([{ field: 'from', code: 'step_too_short', params: { max: maxBuckets } }]);
  }
  const seconds = steps[effectiveStep];
  return { from: floorTo(start, seconds), to: ceilTo(end, seconds), now, step: effectiveStep };
}

const floorTo = (time: number, seconds: number) => Math.floor(time / seconds) * seconds;
const ceilTo = (time: number, seconds: number) => Math.ceil(time / seconds) * seconds;

function countBuckets(start: number, end: number, step: Step): number {
  const seconds = steps[step];
  return Math.ceil(end / seconds) - Math.floor(start / seconds);
}

interface Buckets {
  readonly starts: readonly number[];
  readonly seconds: number;
  readonly now: number;
}

/**
 * One value for each bucket: the sum of the metric, its highest value, and for a mean the number of events by which the sum is
 * divided.
 */
interface Sums {
  readonly sums: readonly number[];
  readonly highest: readonly number[];
  readonly events: readonly number[];
}

function combine(metric: Metric, rows: readonly SumRow[], buckets: Buckets): MetricStatistics {
  const { kind } = metrics[metric];
  const metricRows = rows.filter((row) => row.metric === metric);
  const eventRows = kind === 'mean' ? rows.filter((row) => row.metric === divisorOfMean) : [];
  const labels = [...new Set(metricRows.map(({ label }) => label))].filter((label) => label !== '');
  const all = sumsOf(metricRows, eventRows, buckets);
  return {
    metric,
    kind,
    ...valuesOf(kind, all, buckets),
    labels: labels.map((label) => {
      const isOfLabel = (row: SumRow) => row.label === label;
      return {
        label,
        ...valuesOf(kind, sumsOf(metricRows.filter(isOfLabel), eventRows.filter(isOfLabel), buckets), buckets),
      };
    }),
  };
}

function sumsOf(rows: readonly SumRow[], eventRows: readonly SumRow[], { starts, seconds }: Buckets): Sums {
  const [first = 0] = starts;
  const sums = starts.map(() => 0);
  const highest = starts.map(() => 0);
  const events = starts.map(() => 0);
  const indexOf = ({ at }: SumRow) => (at - first) / seconds;
  for (const row of rows) {
    const index = indexOf(row);
    sums[index] = (sums[index] ?? 0) + row.sum;
    highest[index] = Math.max(highest[index] ?? 0, row.highest);
  }
  for (const row of eventRows) {
    const index = indexOf(row);
    events[index] = (events[index] ?? 0) + row.sum;
  }
  return { sums, highest, events };
}

/** The value of each bucket, and that of the whole time span. A `mean` is the sum divided by the events, an `average` by the time. */
function valuesOf(kind: MetricKind, { sums, highest, events }: Sums, { starts, seconds, now }: Buckets) {
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  switch (kind) {
    case 'counter':
      return { total: total(sums), values: [...sums] };
    case 'maximum':
      return { total: highest.reduce((most, value) => Math.max(most, value), 0), values: [...highest] };
    case 'mean':
      return {
        total: ratio(total(sums), total(events)),
        values: sums.map((sum, index) => ratio(sum, events[index] ?? 0)),
      };
    case 'average': {
      const elapsed = starts.map((start) => Math.min(seconds, Math.max(0, now - start)));
      return {
        total: ratio(total(sums), total(elapsed)),
        values: sums.map((sum, index) => ratio(sum, elapsed[index] ?? 0)),
      };
    }
  }
}

const ratio = (sum: number, count: number) => (count === 0 ? 0 : sum / count);
