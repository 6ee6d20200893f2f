import type { Database } from '../database.js';
import { type DatabaseMetrics, type QueueState, readDatabaseMetrics, readQueueState } from '../state.js';
import { onReachableShards } from './merge.js';

/** Reads how many jobs wait and how old they are, on all servers that answer. */
export async function readQueueStateOfAll(database: Pick<Database, 'shards'>): Promise<QueueState> {
  const states = await onReachableShards(database, ({ everyone }) => readQueueState(everyone));
  return {
    due: states.reduce((sum, { due }) => sum + due, 0),
    oldest_seconds: Math.max(0, ...states.map(({ oldest_seconds }) => oldest_seconds)),
    retrying: states.reduce((sum, { retrying }) => sum + retrying, 0),
  };
}

/** Reads the metrics that only the database knows, on all servers that answer: sums of jobs, and the longest times. */
export async function readMetricsOfAll(database: Pick<Database, 'shards'>): Promise<DatabaseMetrics> {
  const parts = await onReachableShards(database, ({ everyone }) => readDatabaseMetrics(everyone));
  const jobs = new Map<string, DatabaseMetrics['jobs'][number]>();
  for (const job of parts.flatMap((part) => part.jobs)) {
    const key = `${job.task} ${job.state}`;
    jobs.set(key, { ...job, count: job.count + (jobs.get(key)?.count ?? 0) });
  }
  return {
    jobs: [...jobs.values()],
    oldest_job: Math.max(0, ...parts.map((part) => part.oldest_job)),
    maintenance_lag: Math.max(0, ...parts.map((part) => part.maintenance_lag)),
  };
}
