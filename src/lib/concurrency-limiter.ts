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
  /** Called when no task is running. */
  readonly onIdle?: () => void;
}

/** @returns a limiter that throws Problem `overloaded` if too many tasks wait already, or a task has waited too long */
export function createConcurrencyLimiter({
  concurrency: width,
  maxWaiting: length,
  timeoutMs,
  onIdle,
}: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const waiting = new Set<() => void>();
  let running = 0;

  function waitForTurn(): Promise<void> {
    if (waiting.size >= length) throw new Problem('overloaded', { retryAfter: 1 });
    return new Promise((resolve, reject) => {
      const go = () => {
        clearTimeout(timer);
        waiting.delete(go);
        resolve();
      };
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(() => {
              waiting.delete(go);
              reject(new Problem('overloaded', { retryAfter: 1 }));
            }, timeoutMs);
      waiting.add(go);
    });
  }

  return async (task) => {
    if (running >= width) await waitForTurn();
    else running += 1;
    try {
      return await task();
    } finally {
      // A waiting task takes the place of this one, so the count does not change.
      const [next] = waiting;
      if (next === undefined) running -= 1;
      else next();
      if (running === 0) onIdle?.();
    }
  };
}

/** A limiter for each key. It is deleted when it has no task. */
export function createKeyedLimiter(
  options: Omit<ConcurrencyLimiterOptions, 'onIdle'>,
): (key: string) => ConcurrencyLimiter {
  const limiters = new Map<string, ConcurrencyLimiter>();
  return (key) => {
    const known = limiters.get(key);
    if (known !== undefined) return known;
    const limiter = createConcurrencyLimiter({ ...options, onIdle: () => limiters.delete(key) });
    limiters.set(key, limiter);
    return limiter;
  };
}
