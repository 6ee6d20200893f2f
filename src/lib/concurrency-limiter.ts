import { Problem } from './problem.js';

/** Runs tasks with limited concurrency, in the order of their arrival. */
export type ConcurrencyLimiter = <T>(task: () => Promise<T>) => Promise<T>;

export interface ConcurrencyLimiterOptions {
  /** The number of tasks that may run at a time. */
  readonly concurrency: number;
  /** The number of tasks that may wait. */
  readonly maxWaiting: number;
  /** The maximum wait in milliseconds. Absent: no limit. */
  readonly timeoutMs?: number;
  /**
   * While tasks wait, the place of a task that has ended stays empty for this many times as long as the task took. So a long
   * queue leaves resources to others, and a task that finds no queue never waits. At most a second, so that one slow task does
   * not make the others wait for long. Absent: 0.
   */
  readonly rest?: number;
}

/** The maximum milliseconds for which a place stays empty. */
const maxRestMs = 1000;

/** @returns a limiter that throws Problem `overloaded` if too many tasks wait already, or a task has waited too long */
export function createConcurrencyLimiter(options: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const limiter = new Limiter(options);
  return (task) => limiter.run(task);
}

/** Like `createConcurrencyLimiter`, but separately for each key. A key without a task takes no memory. */
export function createKeyedLimiter(
  options: ConcurrencyLimiterOptions,
): <T>(key: string, task: () => Promise<T>) => Promise<T> {
  const limiters = new Map<string, Limiter>();
  return (key, task) => {
    let limiter = limiters.get(key);
    if (limiter === undefined) {
      limiter = new Limiter(options, () => limiters.delete(key));
      limiters.set(key, limiter);
    }
    return limiter.run(task);
  };
}

/** A class, because most queries create a limiter, and a class makes that cheap. */
class Limiter {
  private running = 0;
  /** Created when the first task has to wait. */
  private waiting: Set<() => void> | undefined;

  /** @param onIdle called when no task is running */
  constructor(
    private readonly options: ConcurrencyLimiterOptions,
    private readonly onIdle?: () => void,
  ) {}

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.running >= this.options.concurrency) await this.waitForTurn();
    else this.running += 1;
    const { rest = 0 } = this.options;
    const startedAt = rest === 0 ? 0 : performance.now();
    try {
      return await task();
    } finally {
      if (rest === 0 || !this.waiting?.size) this.endTask();
      else setTimeout(() => this.endTask(), Math.min(maxRestMs, rest * (performance.now() - startedAt)));
    }
  }

  private waitForTurn(): Promise<void> {
    const { maxWaiting, timeoutMs } = this.options;
    this.waiting ??= new Set();
    const { waiting } = this;
    if (waiting.size >= maxWaiting) throw new Problem('overloaded', { retryAfter: 1 });
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer);
        waiting.delete(start);
        resolve();
      };
      const rejectOverloaded = () => {
        waiting.delete(start);
        reject(new Problem('overloaded', { retryAfter: 1 }));
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(rejectOverloaded, timeoutMs);
      waiting.add(start);
    });
  }

  /** A waiting task takes the place of the ended one, so the count does not change. */
  private endTask(): void {
    const next = this.waiting?.values().next().value;
    if (next === undefined) this.running -= 1;
    else next();
    if (this.running === 0) this.onIdle?.();
  }
}
