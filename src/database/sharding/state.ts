import { Problem } from '../../lib/problem.js';
import { TimeoutError, withTimeout } from '../../lib/time-limit.js';
import { type Database, mainShard } from '../database.js';
import { type DatabaseMetrics, type QueueState, readDatabaseMetrics, readQueueState } from '../state.js';
import { onReachableShards, onShards } from './merge.js';

/** Reads how many jobs wait and how old they are, on all servers that answer. */
export async function readQueueStateOfAll(database: Pick<Database, 'shards'>): Promise<QueueState> {
  const states = await onReachableShards(database, ({ everyone }) => readQueueState(everyone));
  return {
    due: states.reduce((sum, { due }) => sum + due, 0),
    oldest_seconds: Math.max(0, ...states.map(({ oldest_seconds }) => oldest_seconds)),
    retrying: states.reduce((sum, { retrying }) => sum + retrying, 0),
  };
}

/** Milliseconds in which a server of SHARDS must send its metrics. Scrapers often wait only a few seconds. */
const metricsMs = 2000;

/**
 * Reads the metrics that only the database knows, on all servers that answer soon: sums of jobs, and the longest times.
 * @returns also the names of the servers that do not
 */
export async function readMetricsOfAll(
  database: Pick<Database, 'shards'>,
): Promise<DatabaseMetrics & { readonly missing: readonly string[] }> {
  const { values: parts, missing } = await onShards(database, ({ name, everyone }) => {
    const metrics = readDatabaseMetrics(everyone);
    return name === mainShard ? metrics : withTimeout(metricsMs, metrics).catch(refuseLate);
  });
  const jobs = new Map<string, DatabaseMetrics['jobs'][number]>();
  for (const job of parts.flatMap((part) => part.jobs)) {
    const key = `${job.task} ${job.state}`;
    jobs.set(key, { ...job, count: job.count + (jobs.get(key)?.count ?? 0) });
  }
  return {
    jobs: [...jobs.values()],
    oldest_job: Math.max(0, ...parts.map((part) => part.oldest_job)),
    maintenance_lag: Math.max(0, ...parts.map((part) => part.maintenance_lag)),
    missing,
  };
}

function refuseLate(error: unknown): never {
  throw error instanceof TimeoutError ? new Problem('storage_unavailable', { cause: error }) : error;
}
