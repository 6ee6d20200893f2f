import { isDaily, metricNames, metrics } from '../contract/operation/statistics.js';
import type { Handle } from '../database/database.js';
import { literal, sql, statement } from '../database/sql.js';
import { newId } from '../lib/ids.js';
import type { Count, CounterStore } from './counters.js';

/** Writes the counts of a process to the database, and records that the process runs. */
export interface Reporter {
  /** The id of this process in the list of instances. */
  readonly instanceId: string;
  /** Where the parts of this process count. */
  readonly counters: CounterStore;
  /** Sets the function that counts the open streams of this process. Each flush calls it. */
  watchStreams(count: () => number): void;
  /** The open streams of this process. */
  openStreams(): number;
  /** Writes the counts now. Rejects if the database fails: the next flush then writes them. */
  flush(): Promise<void>;
  /** Writes the last counts and removes this process from the list of instances. */
  stop(): Promise<void>;
}

/** The process, as the list of instances shows it. */
export interface InstanceInfo {
  readonly host: string;
  readonly processId: number;
  /** Undefined for a single process. */
  readonly worker: number | undefined;
  readonly version: string;
  readonly node: string;
}

export interface ReporterOptions {
  readonly database: Handle;
  readonly counters: CounterStore;
  readonly instance: InstanceInfo;
  readonly onError: (error: unknown) => void;
  /** Milliseconds between two flushes. */
  readonly interval?: number | undefined;
}

/** Milliseconds between two flushes. A process that has counted nothing writes only every `heartbeatMs`. */
const defaultIntervalMs = 10_000;
/** Milliseconds between two writes of a process that counts nothing. A write stores when the process was last seen. */
const heartbeatMs = 30_000;

/** The resolutions of the stored sums. */
const resolutions = sql`array['minute', 'hour', 'day']`;

interface FlushValues extends Omit<InstanceInfo, 'worker'> {
  readonly id: string;
  readonly worker: number | null;
  readonly streams: number;
  readonly flush: number;
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
  readonly values: readonly number[];
  /** Metrics that store their highest value instead of a sum. */
  readonly maxima: readonly string[];
  /** Metrics that store sums by day only. */
  readonly daily: readonly string[];
}

/**
 * One statement writes the counts in all resolutions, with the time of the database. The row of the instance stores the
 * number of the last flush, so a flush whose answer was lost can be repeated. Rows are inserted in one order, so that
 * flushes of several instances cannot deadlock.
 */
const writeCounts = statement<FlushValues>(
  'statistics_flush',
  (p) => sql`
  with clock as materialized (select db_now() as now),
  new_flush as (
    insert into instances as existing (id, host, process_id, worker, version, node, streams, flushes, started_at, seen_at, knows_support_logins)
    select ${p.id}::uuid, ${p.host}, ${p.processId}::int, ${p.worker}::int, ${p.version}, ${p.node}, ${p.streams}::int,
           ${p.flush}::bigint, now, now, true from clock
    on conflict (id) do update set flushes = excluded.flushes, streams = excluded.streams, seen_at = excluded.seen_at
    where existing.flushes < excluded.flushes
    returning seen_at as now)
  insert into statistics as existing (resolution, starts_at, metric, label, value)
  select resolution, date_trunc(resolution, now, 'UTC') as starts_at, metric, label, value
  from new_flush, unnest(${resolutions}) resolution,
    unnest(${p.metrics}::text[], ${p.labels}::text[], ${p.values}::float8[]) counted (metric, label, value)
  where resolution = 'day' or metric <> all(${p.daily}::text[])
  order by resolution, starts_at, metric, label
  on conflict (resolution, starts_at, metric, label) do update
  set value = case when existing.metric = any(${p.maxima}::text[]) then greatest(existing.value, excluded.value)
              else existing.value + excluded.value end`,
);

const removeInstance = statement<{ id: string }>(
  'statistics_remove_instance',
  (p) => sql`delete from instances where id = ${p.id}`,
);

/**
 * The maximum number of due jobs that are read. If there are more, the oldest job that was read may not be the oldest
 * of all jobs.
 */
const maxReadJobs = 5000;

/**
 * Reads the private table of the queue's library, because only the table has an index for this. The first part finds the
 * oldest of the jobs that run next. The second part finds the oldest job of the lowest priority, which runs last.
 */
const readQueueAge = statement<Record<never, never>, { age: number }>(
  'statistics_queue_age',
  () => sql`
  select coalesce(greatest(0, extract(epoch from now() - min(run_at))), 0)::float8 as age from (
    (select run_at from graphile_worker._private_jobs where is_available = true and run_at <= now()
     order by priority, run_at limit ${literal(maxReadJobs)})
    union all
    (select run_at from graphile_worker._private_jobs
     where is_available = true and run_at <= now()
       and priority = (select priority from graphile_worker._private_jobs where is_available = true and run_at <= now()
                       order by priority desc limit 1)
     order by run_at limit 1)) waiting`,
);

const maxima = metricNames.filter((name) => metrics[name].kind === 'maximum');
const daily = metricNames.filter(isDaily);

/** A flush that the database has not confirmed yet. */
interface Flush {
  readonly flush: number;
  readonly counts: readonly Count[];
}

/** Starts to write the counts at an interval. */
export function startReporter(options: ReporterOptions): Reporter {
  const { database, counters, instance, onError, interval = defaultIntervalMs } = options;
  const id = newId();
  let countStreams = () => 0;
  let flushes = 0;
  let unconfirmed: Flush | undefined;
  let gaugesAddedAt = performance.now();
  let writtenAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> = Promise.resolve();

  /** Adds the gauges. An average is stored as the sum over time, which can be added up. */
  async function addGauges(): Promise<void> {
    const now = performance.now();
    counters.add('streams.open', '', (countStreams() * (now - gaugesAddedAt)) / 1000);
    gaugesAddedAt = now;
    const [queue] = await database.query(readQueueAge({}));
    counters.add('queue.age', '', queue?.age ?? 0);
  }

  async function write({ flush, counts }: Flush): Promise<void> {
    await database.query(
      writeCounts({
        ...instance,
        id,
        worker: instance.worker ?? null,
        streams: countStreams(),
        flush,
        metrics: counts.map(({ metric }) => metric),
        labels: counts.map(({ label }) => label),
        values: counts.map(({ value }) => value),
        maxima,
        daily,
      }),
    );
    writtenAt = performance.now();
  }

  async function flushOnce(skipIfIdle: boolean): Promise<void> {
    if (unconfirmed !== undefined) await write(unconfirmed);
    unconfirmed = undefined;
    await addGauges();
    const counts = counters.take();
    if (counts.length === 0 && skipIfIdle && performance.now() - writtenAt < heartbeatMs) return;
    flushes += 1;
    unconfirmed = { flush: flushes, counts };
    await write(unconfirmed);
    unconfirmed = undefined;
  }

  /** Writes the counts. One flush runs at a time. */
  function flush(skipIfIdle: boolean): Promise<void> {
    running = running.catch(() => undefined).then(() => flushOnce(skipIfIdle));
    return running;
  }

  const timer = setInterval(() => void flush(true).catch(onError), interval).unref();
  void flush(false).catch(onError);

  return {
    instanceId: id,
    counters,
    watchStreams(count) {
      countStreams = count;
    },
    openStreams: () => countStreams(),
    flush: () => flush(false),
    async stop() {
      clearInterval(timer);
      await flush(false).catch(onError);
      await database.query(removeInstance({ id })).catch(onError);
    },
  };
}
