import { createConcurrencyLimiter, createKeyedLimiter } from '../../lib/concurrency-limiter.js';
import { Problem } from '../../lib/problem.js';

/** Runs an expensive read for a user, or a change that reads as much. @throws Problem `too_many_requests`, `overloaded` */
export type ExpensiveReadLimit = <T>(userId: string, read: () => Promise<T>) => Promise<T>;

export interface ExpensiveReadLimitOptions {
  /** Size of the pool that the reads use. */
  readonly connections: number;
  /** Returns the time in milliseconds, since any moment. */
  readonly now?: () => number;
}

/**
 * Limits for one user: expensive reads that run at a time, reads that may wait, and the maximum wait in milliseconds. While reads wait, the
 * user rests, so that a user with many takes a quarter of one processor of the database.
 */
const userLimits = { concurrency: 1, maxWaiting: 100, timeoutMs: 2000, rest: 3 };
/** Limits for all users together. Expensive reads use half of the connections; the other half serves all other requests. */
const totalLimits = { maxWaiting: 400, timeoutMs: 2000 };
/** The time that one user may use: the maximum in milliseconds, and the milliseconds that are refilled per millisecond. */
const allowance = { max: 10_000, refill: 0.2 };
/** After this many reads, users whose allowance is full again are removed from memory. */
const cleanupInterval = 1000;

/**
 * Limits how many connections the expensive reads of one user use, and for how long. An expensive read scans an inbox. Reads
 * beyond the limit are refused, so that one user does not delay other users.
 */
export function createExpensiveReadLimit({
  connections,
  now = () => performance.now(),
}: ExpensiveReadLimitOptions): ExpensiveReadLimit {
  const enterUserQueue = createKeyedLimiter(userLimits);
  const enterSharedQueue = createConcurrencyLimiter({
    ...totalLimits,
    concurrency: Math.max(2, Math.floor(connections / 2)),
  });
  const spending = createSpending(now);

  async function measure<T>(userId: string, read: () => Promise<T>): Promise<T> {
    const since = now();
    try {
      return await read();
    } finally {
      spending.charge(userId, now() - since);
    }
  }

  return async (userId, read) => {
    spending.refuseExcess(userId);
    let hasEntered = false;
    try {
      return await enterUserQueue(userId, async () => {
        hasEntered = true;
        spending.refuseExcess(userId);
        return await enterSharedQueue(() => measure(userId, read));
      });
    } catch (error) {
      throw hasEntered ? error : new Problem('too_many_requests', { retryAfter: 1 });
    }
  };
}

/** Tracks the milliseconds that each user has used and that are not refilled yet. */
function createSpending(now: () => number) {
  const spent = new Map<string, { readonly time: number; readonly at: number }>();
  let charges = 0;
  const notRefilled = (userId: string) => {
    const { time = 0, at = 0 } = spent.get(userId) ?? {};
    return Math.max(0, time - (now() - at) * allowance.refill);
  };
  return {
    /** @throws Problem `too_many_requests` */
    refuseExcess(userId: string): void {
      const excess = notRefilled(userId) - allowance.max;
      if (excess < 0) return;
      throw new Problem('too_many_requests', { retryAfter: Math.ceil((excess + 1) / allowance.refill / 1000) });
    },
    charge(userId: string, time: number): void {
      spent.set(userId, { time: notRefilled(userId) + time, at: now() });
      charges += 1;
      if (charges % cleanupInterval !== 0) return;
      for (const id of spent.keys()) if (notRefilled(id) === 0) spent.delete(id);
    },
  };
}
