import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Logger, runTaskList, type TaskList, type WorkerEvents, type WorkerPool } from 'graphile-worker';
import pg from 'pg';
import type { DatabaseTarget } from '../database/connections/target.js';
import { createPlainPool, type PoolState, poolState } from '../database/database.js';
import { waitAtMost } from '../lib/time-limit.js';
import { inSpan, type Tracing } from '../lib/tracing.js';
import { keepWorkerNames, type NameTimes, type WorkerNames } from './worker-names.js';

/** Runs the durable jobs that requests have queued. */
export interface Queue {
  /** The current connections of the queue's pool. */
  connections(): PoolState;
  /** The jobs that this process runs now, by task. */
  running(): ReadonlyMap<string, number>;
  /** Takes no new jobs and waits for the running ones. */
  stop(): Promise<void>;
}

export interface QueueOptions {
  readonly target: DatabaseTarget;
  /** Each group has its own workers, so jobs of one group never wait for jobs of another. */
  readonly groups: readonly JobGroup[];
  /** The number of connections that fetch and complete the jobs of all groups. Each group listens on one more. */
  readonly connections: number;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  /**
   * Called when a job starts. The time is not exact, because the clocks of the host and of the database may differ.
   * @param waitSeconds seconds since the job was due
   */
  readonly onJobStarted?: (task: string, waitSeconds: number) => void;
  /** Undefined: jobs are not traced. */
  readonly tracing?: Tracing | undefined;
  /** For tests, which use shorter times than a service. */
  readonly nameTimes?: NameTimes;
}

/** A group of jobs that depend on the same thing, such as one provider. */
export interface JobGroup {
  /** The tasks by job name. A task that rejects is retried with back-off. */
  readonly tasks: Readonly<Record<string, (payload: unknown) => Promise<void>>>;
  /** The maximum number of concurrent jobs in this process. */
  readonly concurrency: number;
}

/**
 * Milliseconds that a stop waits for running jobs and for connections to close, for which the server may refuse to give jobs
 * to workers, and in which workers without jobs must end.
 */
const timeouts = { jobs: 12_000, close: 2000, fetch: 3000, end: 6000 };

/**
 * Runs graphile-worker on its own connection pool, so that requests and jobs do not compete for connections. It restarts
 * when its database connection breaks.
 */
export async function startQueue(options: QueueOptions): Promise<Queue> {
  const { log, target } = options;
  const pool = createPlainPool(target, options.connections + options.groups.length, (error) =>
    log.warn({ err: error, outage: 'database' }, 'a queue connection broke'),
  );
  const notConnected = wrapConnect(pool);
  const names = await keepWorkerNames(target, log, options.nameTimes);
  const running = new Map<string, number>();
  const groups = options.groups.map((group) =>
    keepRunning(group, {
      pool,
      notConnected,
      names,
      log,
      running,
      onJobStarted: options.onJobStarted,
      tracing: options.tracing,
    }),
  );
  return {
    connections: () => poolState(pool),
    running: () => running,
    async stop() {
      await waitAtMost(timeouts.jobs, Promise.all(groups.map((group) => group.stop())));
      await waitAtMost(timeouts.close, Promise.all([names.end(), pool.end()]));
    },
  };
}

/**
 * - Remembers the errors of attempts to connect: after such an error, no statement was sent.
 * - Ignores a second release of a connection. The library releases the connection of its listener twice if it breaks during a
 *   stop, and the error of the pool would end the process.
 *
 * @returns the errors after which no statement was sent
 */
function wrapConnect(pool: pg.Pool): WeakSet<Error> {
  const notConnected = new WeakSet<Error>();
  const connect: pg.Pool['connect'] = pool.connect.bind(pool);
  type Callback = Parameters<typeof connect>[0];
  const connectOnce = (callback?: Callback) => {
    if (callback === undefined) {
      return connect().catch((error: Error) => {
        notConnected.add(error);
        throw error;
      });
    }
    return connect((error, client, release) => {
      let isReleased = false;
      const releaseOnce = (reason?: Error | boolean) => {
        if (!isReleased) release(reason);
        isReleased = true;
      };
      callback(error, client, client === undefined ? release : releaseOnce);
    });
  };
  pool.connect = connectOnce as typeof connect;
  return notConnected;
}

interface Shared {
  readonly pool: pg.Pool;
  /** The errors of attempts to connect, after which no statement was sent. */
  readonly notConnected: WeakSet<Error>;
  readonly names: WorkerNames;
  readonly log: QueueOptions['log'];
  readonly running: Map<string, number>;
  readonly onJobStarted: QueueOptions['onJobStarted'];
  readonly tracing: Tracing | undefined;
}

/** Runs the workers of a group, and restarts them when they stop. */
function keepRunning(group: JobGroup, shared: Shared): { stop(): Promise<void> } {
  const { names, log } = shared;
  let stopping = false;
  let runner: Runner | undefined;

  const supervision = (async () => {
    for (let failures = 0; !stopping; failures += 1) {
      let name: string | undefined;
      try {
        runner = startRunner(group, shared, {
          onCreated(workerName) {
            name = workerName;
            names.lock(workerName);
          },
          onFetched: () => {
            failures = 0;
          },
        });
        if (stopping) await runner.stop();
        await runner.ended;
      } catch (error) {
        if (!stopping) log.warn({ err: error, outage: 'database' }, 'the queue could not run');
      }
      // Frees the jobs that the runner could not complete.
      if (name !== undefined) names.unlock(name);
      if (stopping) return;
      log.warn({ outage: 'database' }, 'the queue stopped and is started again');
      await wait(Math.min(5000, 100 * 2 ** failures), undefined, { ref: false });
    }
  })();

  return {
    async stop() {
      stopping = true;
      await Promise.all([runner?.stop().catch(() => undefined), supervision]);
    },
  };
}

/**
 * Stops workers that fail to fetch jobs, so that they restart under another name.
 *
 * - If a statement was sent and no answer came, at once: the server may have locked a job for a worker that does not know of
 *   it. Such a job is freed only when the name is gone.
 * - After errors of the server, or without a connection, only if this repeats: the library reads the ids of its tasks only once, at the start. If a
 *   slow connection prevents this, the group would never take a job.
 */
function stopWhenFetchFails(events: WorkerEvents, { log, notConnected }: Shared): void {
  let failingSince: number | undefined;
  let isStopping = false;
  const onSuccess = () => {
    failingSince = undefined;
  };
  events.on('worker:getJob:empty', onSuccess);
  events.on('job:start', onSuccess);
  events.on('worker:getJob:error', ({ worker, error }) => {
    const now = performance.now();
    failingSince ??= now;
    const mayHaveLocked = !(error instanceof pg.DatabaseError || (error instanceof Error && notConnected.has(error)));
    if (isStopping || (!mayHaveLocked && now - failingSince < timeouts.fetch)) return;
    isStopping = true;
    log.warn({ err: error, outage: 'database' }, 'the queue cannot fetch jobs');
    void Promise.resolve(worker.workerPool.gracefulShutdown()).catch(() => undefined);
  });
}

interface Runner {
  stop(): Promise<void>;
  /**
   * Settles when the runner has ended. If several jobs ended at different times while the database was away, the library
   * waits for ever when it stops. So this also resolves some seconds after the last job.
   */
  readonly ended: Promise<unknown>;
}

const lastEvents = [
  'pool:gracefulShutdown:complete',
  'pool:forcefulShutdown:complete',
  'pool:forcefulShutdown:error',
] as const;

interface RunnerListeners {
  /** Called with the name that locks the runner's jobs, before the runner takes jobs. */
  readonly onCreated: (name: string) => void;
  /** Called when the runner has asked for jobs successfully. */
  readonly onFetched: () => void;
}

function startRunner(group: JobGroup, shared: Shared, { onCreated, onFetched }: RunnerListeners): Runner {
  const { pool: pgPool, log, running, onJobStarted, tracing } = shared;
  const events: WorkerEvents = new EventEmitter();
  events.on('pool:create', ({ workerPool }) => onCreated(workerPool.id));
  for (const fetched of ['worker:getJob:empty', 'job:start'] as const) events.once(fetched, onFetched);
  events.on('job:start', ({ job }) =>
    onJobStarted?.(job.task_identifier, Math.max(0, (Date.now() - job.run_at.getTime()) / 1000)),
  );
  stopWhenFetchFails(events, shared);
  const withoutJobs = new Promise<void>((resolve) => {
    for (const event of lastEvents) events.once(event, () => resolve());
  });
  const taskList: TaskList = Object.fromEntries(
    Object.entries(group.tasks).map(([name, task]) => {
      running.set(name, 0);
      return [name, (payload: unknown) => countWhile(running, name, () => runTraced(tracing, name, task, payload))];
    }),
  );
  const options = {
    events,
    concurrency: group.concurrency,
    noHandleSignals: true,
    // Without batches the library does not await the completion of a job, and a broken connection would end the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    pollInterval: 2000,
    logger: new Logger(() => (level, message) => {
      // Tasks log their own failures. Other messages of the library may hold payloads.
      if (level !== 'error') return;
      // A failed task has nothing to do with the database.
      const outage = message.startsWith('Failed task') ? {} : { outage: 'database' };
      log.warn({ from: 'queue', ...outage }, message.split('\n', 1)[0]?.slice(0, 200) ?? '');
    }),
  };
  // Not `run`: it also starts the library's clock for repeated jobs, which Postern does not use. If the clock of the machine is set by
  // more than 24 days, that clock wakes up every millisecond.
  const workerPool: WorkerPool = runTaskList(options, taskList, pgPool);
  const { promise } = workerPool;
  return {
    stop: async () => void (await workerPool.gracefulShutdown()),
    ended: Promise.race([promise, withoutJobs.then(() => waitAtMost(timeouts.end, promise))]),
  };
}

/**
 * Runs a job as a span. The payload of the job names the request that caused it, and the span links to this request.
 */
function runTraced(
  tracing: Tracing | undefined,
  name: string,
  task: (payload: unknown) => Promise<void>,
  payload: unknown,
): Promise<void> {
  if (tracing === undefined) return task(payload);
  const { traceparent } = payload as { readonly traceparent?: string | null };
  const attributes = { 'messaging.system': 'graphile_worker', 'messaging.destination.name': name };
  return inSpan(tracing, tracing.startJob(name, traceparent, attributes), () => task(payload));
}

async function countWhile(running: Map<string, number>, task: string, work: () => Promise<void>): Promise<void> {
  running.set(task, (running.get(task) ?? 0) + 1);
  try {
    await work();
  } finally {
    running.set(task, (running.get(task) ?? 0) - 1);
  }
}
