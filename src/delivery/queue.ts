import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Logger, type Runner, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import { createPlainPool, type DatabaseTarget } from '../database/database.js';
import { waitAtMost } from '../lib/patience.js';
import { keepWorkerNames, type WorkerNames } from './worker-names.js';

/** Does the durable work that requests leave behind. */
export interface Queue {
  /** Lets running jobs end, takes no new ones. */
  stop(): Promise<void>;
}

export interface QueueOptions {
  readonly target: DatabaseTarget;
  /** Each has workers of its own: jobs of one never wait for those of another. */
  readonly lines: readonly Line[];
  /** For taking jobs and giving them back, of all lines together; each line listens on one more. */
  readonly connections: number;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
}

/** Jobs that wait for the same thing, such as one provider. */
export interface Line {
  /** By job name. A task that rejects is tried again with back-off. */
  readonly tasks: Readonly<Record<string, (payload: unknown) => Promise<void>>>;
  /** Jobs at a time in this process. */
  readonly concurrency: number;
}

/**
 * Milliseconds until a stop goes on without what it waits for, running jobs and connections that do not close; and how
 * long workers may fail to ask for jobs.
 */
const patience = { jobs: 12_000, close: 2000, asking: 3000 };

/**
 * Runs graphile-worker on a pool of its own, so that a flood of requests cannot starve it, nor it them. It is started
 * again when it dies with its database connection.
 */
export async function startQueue(options: QueueOptions): Promise<Queue> {
  const { log, target } = options;
  const pool = createPlainPool(target, options.connections + options.lines.length, (error) =>
    log.warn({ err: error }, 'a queue connection broke'),
  );
  const names = await keepWorkerNames(target, log);
  const lines = options.lines.map((line) => keepRunning(line, { pool, names, log }));
  return {
    async stop() {
      await waitAtMost(patience.jobs, Promise.all(lines.map((line) => line.stop())));
      await waitAtMost(patience.close, Promise.all([names.end(), pool.end()]));
    },
  };
}

interface Shared {
  readonly pool: pg.Pool;
  readonly names: WorkerNames;
  readonly log: QueueOptions['log'];
}

/** Runs a line's workers, again and again when they die. */
function keepRunning(line: Line, shared: Shared): Queue {
  const { names, log } = shared;
  let stopping = false;
  let runner: Runner | undefined;

  const supervise = (async () => {
    for (let failures = 0; !stopping; failures += 1) {
      let name: string | undefined;
      try {
        runner = await startRunner(line, shared, (created) => {
          name = created;
          names.hold(created);
        });
        failures = 0;
        if (stopping) await runner.stop();
        await runner.promise;
      } catch (error) {
        if (!stopping) log.warn({ err: error }, 'the queue could not run');
      }
      // What it could not give back is free for the next one.
      if (name !== undefined) names.drop(name);
      if (stopping) return;
      log.warn({}, 'the queue stopped and is started again');
      await wait(Math.min(5000, 100 * 2 ** failures), undefined, { ref: false });
    }
  })();

  return {
    async stop() {
      stopping = true;
      await Promise.all([runner?.stop().catch(() => undefined), supervise]);
    },
  };
}

/**
 * Workers that keep failing to ask for jobs are stopped, to be started anew. The library remembers for ever that it could
 * not read the names of its tasks: one connection that is late at the start, and the line would never take a job.
 */
function stopWhenStuck(events: WorkerEvents, log: QueueOptions['log']): void {
  let failingSince: number | undefined;
  const works = () => {
    failingSince = undefined;
  };
  events.on('worker:getJob:empty', works);
  events.on('job:start', works);
  events.on('worker:getJob:error', ({ worker, error }) => {
    const now = performance.now();
    failingSince ??= now;
    if (now - failingSince < patience.asking) return;
    log.warn({ err: error }, 'the queue cannot ask for jobs');
    failingSince = undefined;
    void Promise.resolve(worker.workerPool.gracefulShutdown()).catch(() => undefined);
  });
}

/** @param created hears the name under which the runner's jobs are locked, before it takes any */
function startRunner(line: Line, { pool: pgPool, log }: Shared, created: (name: string) => void): Promise<Runner> {
  const events: WorkerEvents = new EventEmitter();
  events.on('pool:create', ({ workerPool }) => created(workerPool.id));
  stopWhenStuck(events, log);
  const taskList: TaskList = Object.fromEntries(
    Object.entries(line.tasks).map(([name, task]) => [name, (payload: unknown) => task(payload)]),
  );
  return run({
    pgPool,
    taskList,
    events,
    concurrency: line.concurrency,
    noHandleSignals: true,
    parsedCronItems: [],
    // Without a batch nobody awaits the end of a job, and a connection that breaks there would end the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    pollInterval: 2000,
    logger: new Logger(() => (level, message) => {
      // A failed job is told by its own task; the library's lines may hold payloads.
      if (level === 'error') log.warn({ from: 'queue' }, message.split('\n', 1)[0]?.slice(0, 200) ?? '');
    }),
  });
}
