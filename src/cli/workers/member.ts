import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Family } from '../../app/metrics/families.js';
import { packageFolder } from '../../lib/own-package.js';
import { waitAtMost } from '../../lib/time-limit.js';
import { type Environment, type FromWorker, stopDeadlineMs, type ToWorker } from './messages.js';

/** One worker, as the primary sees it. */
export interface WorkerProcess {
  /** The number of the worker. Every line of its log contains it. */
  readonly worker: number;
  readonly pid: number | undefined;
  /** The URL on which it listens; undefined if it ended before it listened. */
  readonly ready: Promise<string | undefined>;
  readonly ended: Promise<WorkerEnd>;
  /**
   * Asks the worker to end: `stop` after its running requests, `retire` after its clients had time to connect to other
   * workers. Resolves when the worker has ended, with false if it had to be killed.
   */
  end(mode: 'stop' | 'retire'): Promise<boolean>;
  /** The current metrics of the worker, or its last ones if it does not answer, for example because it has ended. */
  readMetrics(): Promise<readonly Family[]>;
}

/** How a worker ended. */
export interface WorkerEnd {
  readonly wasReady: boolean;
  /** Whether `end` was called. */
  readonly endRequested: boolean;
  /** The lifetime of the worker, in milliseconds. */
  readonly lifetimeMs: number;
  /** The worker's message for the operator about why it could not start; undefined if it sent none. */
  readonly reason: string | undefined;
  /** An exit code or the name of a signal. */
  readonly exitStatus: string;
}

/** The compiled program: Node.js cannot run its source. */
const program = fileURLToPath(new URL('dist/cli/workers/worker.js', packageFolder));

/** Milliseconds. Shorter than the deadline of the primary process, so that a worker that hangs does not outlive it. */
const killAfterMs = stopDeadlineMs - 2000;

/** Milliseconds that a scrape waits for one worker. */
const metricsTimeoutMs = 2000;

/**
 * All workers accept connections on one socket, and the kernel chooses the worker. In Node's default mode the primary accepts
 * connections and passes them on: if the worker dies at that moment, the client waits without end.
 */
export function prepareWorkers(): void {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: program, args: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** Starts a worker and sends it its environment. Call `prepareWorkers` first. */
export function startWorkerProcess(environment: Environment): WorkerProcess {
  const startedAt = performance.now();
  const worker = cluster.fork();
  let endRequested = false;
  let url: string | undefined;
  let reason: string | undefined;
  let lastMetrics: readonly Family[] = [];
  let metricsArrived: () => void = () => undefined;
  let resolveReady: (url: string | undefined) => void = () => undefined;
  const ready = new Promise<string | undefined>((resolve) => {
    resolveReady = resolve;
  });
  const send = (message: ToWorker) => {
    // A worker that has just ended cannot receive the message. Its `exit` event follows.
    if (worker.isConnected()) worker.send(message, () => undefined);
  };
  worker.on('message', (message: FromWorker) => {
    if (message === 'listening') send(endRequested ? 'stop' : { start: environment });
    else if ('failed' in message) reason = message.failed;
    else if ('metrics' in message) {
      lastMetrics = message.metrics;
      metricsArrived();
    } else {
      url = message.ready;
      resolveReady(url);
    }
  });
  const ended = new Promise<WorkerEnd>((resolve) => {
    const end = (exitStatus: string) => {
      resolveReady(undefined);
      resolve({
        wasReady: url !== undefined,
        endRequested,
        lifetimeMs: performance.now() - startedAt,
        reason,
        exitStatus,
      });
    };
    worker.on('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    // The system may have been unable to start the process.
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) end(error.message);
    });
  });
  return {
    worker: worker.id,
    pid: worker.process.pid,
    ready,
    ended,
    async readMetrics() {
      if (!worker.isConnected()) return lastMetrics;
      const arrival = new Promise<void>((resolve) => {
        metricsArrived = resolve;
      });
      send('metrics');
      await waitAtMost(metricsTimeoutMs, Promise.race([arrival, ended]));
      return lastMetrics;
    },
    async end(mode) {
      endRequested = true;
      send(mode);
      let stoppedInTime = true;
      const killTimer = setTimeout(() => {
        stoppedInTime = false;
        worker.process.kill('SIGKILL');
      }, killAfterMs);
      await ended;
      clearTimeout(killTimer);
      return stoppedInTime;
    },
  };
}
