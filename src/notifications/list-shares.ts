import { Problem } from '../lib/problem.js';
import { createLanes, createTurnstile } from '../lib/turnstile.js';

/** Runs a costly read of a user. @throws Problem `too_many_requests`, `overloaded` */
export type ListShares = <T>(userId: string, read: () => Promise<T>) => Promise<T>;

export interface ListSharesOptions {
  /** Of the pool that the reads use. */
  readonly connections: number;
  /** Milliseconds, from any origin. */
  readonly now?: () => number;
}

/** Costly reads of one user: how many run, how many may wait, and for how many milliseconds. */
const ofUser = { width: 2, length: 100, patience: 1000 };
/** Those of all users together that may wait. They run on half of the connections: the other half stays with all else. */
const ofAll = { length: 400, patience: 2000 };
/** Milliseconds that the reads of one user may take at once, and the part of the time that comes back. */
const allowance = { most: 10_000, refill: 0.2 };
/** Reads after which users are forgotten who have their whole allowance again. */
const forgetting = 1000;

/**
 * Bounds what the costly reads of one user, which scan an inbox, take of the database: their connections, and the time in
 * which they hold them. What one user asks for beyond that is refused, and delays nobody else.
 */
export function createListShares({ connections, now = () => performance.now() }: ListSharesOptions): ListShares {
  const enterOwn = createLanes(ofUser);
  const enterAll = createTurnstile({ ...ofAll, width: Math.max(2, Math.floor(connections / 2)) });
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
    let isIn = false;
    try {
      return await enterOwn(userId)(async () => {
        isIn = true;
        spending.refuseExcess(userId);
        return await enterAll(() => measure(userId, read));
      });
    } catch (error) {
      throw isIn ? error : new Problem('too_many_requests', { retryAfter: 1 });
    }
  };
}

/** Of each user the milliseconds that are not back yet. */
function createSpending(now: () => number) {
  const spent = new Map<string, { readonly time: number; readonly at: number }>();
  let charges = 0;
  const left = (userId: string) => {
    const { time = 0, at = 0 } = spent.get(userId) ?? {};
    return Math.max(0, time - (now() - at) * allowance.refill);
  };
  return {
    /** @throws Problem `too_many_requests` */
    refuseExcess(userId: string): void {
      const excess = left(userId) - allowance.most;
      if (excess < 0) return;
      throw new Problem('too_many_requests', { retryAfter: Math.ceil((excess + 1) / allowance.refill / 1000) });
    },
    charge(userId: string, time: number): void {
      spent.set(userId, { time: left(userId) + time, at: now() });
      charges += 1;
      if (charges % forgetting !== 0) return;
      for (const id of spent.keys()) if (left(id) === 0) spent.delete(id);
    },
  };
}
