import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../app/base/log.js';
import { type Family, mergeCounters } from '../../app/metrics/families.js';
import { CommandError } from '../support/failure.js';
import type { WorkerEnd, WorkerProcess } from './member.js';
import type { Environment } from './messages.js';

/** A fixed number of workers. The pool replaces a worker that ends. */
export interface WorkerPool {
  /** The URL of the workers. Resolves when all of them listen. */
  readonly ready: Promise<string>;
  /**
   * Rejects with a CommandError when a worker cannot start while no pool was ready yet, and when several workers in a row
   * end before they are ready.
   */
  readonly failed: Promise<never>;
  /** Replaces the workers one after the other. The new worker listens before the old one stops. */
  restart(environment: Environment): Promise<void>;
  /** The metrics of all workers, and the counts of those that have ended. */
  readMetrics(): Promise<readonly (readonly Family[])[]>;
  /** Stops all workers after their running requests. @throws CommandError when a worker had to be killed */
  stop(): Promise<void>;
}

/** The options of `startPool`. */
export interface PoolOptions {
  readonly size: number;
  readonly environment: Environment;
  readonly log: Logger;
  readonly startWorker: (environment: Environment) => WorkerProcess;
  /** Called before an ended worker is replaced. Resolves when a worker can start, or when the signal is aborted. */
  readonly waitUntilWorkerCanStart: (signal: AbortSignal) => Promise<void>;
}

/** The pool fails when this many workers in a row have ended before they were ready. */
const maxFailures = 5;
/** Milliseconds. A worker that ran for longer is replaced without a pause. */
const stableAfterMs = 10_000;
/** The pause before a worker is replaced, after workers that ended early. It doubles with each of them. */
const pausesMs = { first: 100, max: 5000 };

/** Starts `size` workers. */
export function startPool({ size, environment, log, startWorker, waitUntilWorkerCanStart }: PoolOptions): WorkerPool {
  const stopping = new AbortController();
  /** The workers that run and that the pool has not asked to end. */
  const active = new Set<WorkerProcess>();
  const running = new Set<WorkerProcess>();
  const listening = new Set<WorkerProcess>();
  const outcome = createOutcome();
  /** The counts of ended workers are kept: the sums in the metrics must not become smaller when a worker ends. */
  let endedCounts: Promise<readonly Family[]> = Promise.resolve([]);
  let currentEnvironment = environment;
  let earlyEnds = 0;
  let failures = 0;
  let restarting = false;

  function addWorker(): WorkerProcess {
    const member = startWorker(currentEnvironment);
    active.add(member);
    running.add(member);
    void member.ready.then((url) => {
      if (url === undefined) return;
      failures = 0;
      log.info({ worker: member.worker, pid: member.pid }, 'a worker is ready');
      listening.add(member);
      if (listening.size === size) outcome.succeed(url);
    });
    void member.ended.then((end) => {
      for (const set of [active, listening, running]) set.delete(member);
      endedCounts = addCounts(endedCounts, member);
      if (!end.endRequested && !stopping.signal.aborted) void replace(member, end);
    });
    return member;
  }

  async function replace({ worker, pid }: WorkerProcess, end: WorkerEnd): Promise<void> {
    const { wasReady, reason, exitStatus } = end;
    // An error at the first start ends the service at once. Later it may be temporary.
    if (reason !== undefined && !outcome.isReady()) return outcome.fail(reason);
    log.error({ worker, pid, exitStatus, ...(reason !== undefined && { reason }) }, 'a worker has ended unexpectedly');
    failures = wasReady ? 0 : failures + 1;
    earlyEnds = end.lifetimeMs < stableAfterMs ? earlyEnds + 1 : 0;
    if (failures >= maxFailures) {
      const lastReason = reason ?? exitStatus;
      return outcome.fail(
        `${maxFailures} workers in a row have ended before they were ready. The last one: ${lastReason}`,
      );
    }
    const pause = earlyEnds === 0 ? 0 : Math.min(pausesMs.max, pausesMs.first * 2 ** (earlyEnds - 1));
    await wait(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
    await waitUntilWorkerCanStart(stopping.signal);
    // A rolling restart, or the replacement of another worker, may have brought the pool to its full size already.
    if (!stopping.signal.aborted && active.size < size) addWorker();
  }

  async function retire(member: WorkerProcess): Promise<void> {
    active.delete(member);
    // Another worker may have ended while this one still counted as active, so it was not replaced.
    if (!stopping.signal.aborted && active.size < size) addWorker();
    if (!(await member.end('retire')))
      log.error({ worker: member.worker }, 'a worker did not stop in time and was killed');
  }

  async function restart(): Promise<void> {
    for (const oldWorker of [...active]) {
      // `stop()` would not see a worker that starts now.
      if (stopping.signal.aborted) return;
      // A worker that has ended by now was replaced already.
      if (!active.has(oldWorker)) continue;
      const replacement = addWorker();
      const url = await replacement.ready;
      if (stopping.signal.aborted) return;
      if (url === undefined) return log.error({}, 'the rolling restart was aborted: a new worker did not become ready');
      await retire(oldWorker);
    }
    log.info({}, 'the rolling restart is done');
  }

  for (let count = 0; count < size; count += 1) addWorker();
  return {
    ready: outcome.ready,
    failed: outcome.failed,
    async restart(next) {
      if (restarting || stopping.signal.aborted || !outcome.isReady()) {
        log.warn({}, 'a rolling restart was ignored: another restart, the start or the stop is in progress');
        return;
      }
      restarting = true;
      currentEnvironment = next;
      await restart().finally(() => {
        restarting = false;
      });
    },
    readMetrics: () => Promise.all([endedCounts, ...[...running].map((member) => member.readMetrics())]),
    async stop() {
      stopping.abort();
      const results = await Promise.all([...running].map((member) => member.end('stop')));
      if (results.includes(false)) throw new CommandError('Postern did not stop in time.');
    },
  };
}

async function addCounts(before: Promise<readonly Family[]>, member: WorkerProcess): Promise<readonly Family[]> {
  const [counts, metrics] = await Promise.all([before, member.readMetrics()]);
  return metrics.length === 0 ? counts : mergeCounters([counts, metrics]);
}

/** The outcome of the start: all workers were ready, or the pool has failed. */
function createOutcome() {
  let isReady = false;
  let resolveReady: (url: string) => void = () => undefined;
  let rejectFailed: (error: Error) => void = () => undefined;
  const ready = new Promise<string>((resolve) => {
    resolveReady = resolve;
  });
  const failed = new Promise<never>((_resolve, reject) => {
    rejectFailed = reject;
  });
  // Nothing may await this promise when it rejects, such as during the stop. Node.js would end the process then.
  failed.catch(() => undefined);
  return {
    ready,
    failed,
    isReady: () => isReady,
    succeed(url: string) {
      isReady = true;
      resolveReady(url);
    },
    fail: (message: string) => rejectFailed(new CommandError(message)),
  };
}
