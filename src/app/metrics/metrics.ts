import type { Queue } from '../../delivery/queue.js';
import type { RevocationStreams } from '../../sessions/revocations/streams.js';
import type { Base } from '../base/base.js';
import { readFromDatabase } from './database-metrics.js';
import type { Family } from './families.js';
import { startNodeMetrics } from './node-metrics.js';
import { readProcessMetrics } from './process-metrics.js';
import { serveMetrics } from './server.js';

/** The metrics of this process; undefined without METRICS_PORT. */
export interface Metrics {
  /** Where they are served. A worker serves none: its primary asks it for them. */
  readonly url: string | undefined;
  read(): Promise<readonly Family[]>;
}

/** Starts to collect the metrics of this process, and serves them unless it is a worker. */
export async function startMetrics(
  base: Base,
  {
    queue,
    revocationStreams,
    isWorker,
  }: {
    readonly queue: Queue;
    readonly revocationStreams: RevocationStreams;
    readonly isWorker: boolean;
  },
): Promise<Metrics | undefined> {
  const { config, database, hasher, statistics, meters, lifecycle, log } = base;
  const { METRICS_HOST: host, METRICS_PORT: port } = config;
  if (port === undefined || meters === undefined) return undefined;
  const readNodeMetrics = await startNodeMetrics();
  const read = async () => [
    ...readProcessMetrics({
      meters,
      counters: statistics.counters,
      waitingHashes: hasher.waiting,
      openStreams: statistics.openStreams,
      openRevocationStreams: revocationStreams.count,
      runningJobs: queue.running,
      pools: { requests: database.connections, jobs: queue.connections },
    }),
    ...(await readNodeMetrics()),
  ];
  if (isWorker) return { url: undefined, read };
  const readAll = () => Promise.all([read(), readFromDatabase(database, config)]);
  const server = lifecycle.add(await serveMetrics({ host, port, log, read: readAll }), (running) => running.close());
  return { url: server.url, read };
}
