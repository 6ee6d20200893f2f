import { setTimeout as wait } from 'node:timers/promises';

/** A time limit, which the work checks before each step. */
export interface TimeLimit {
  /** The milliseconds that are left. @throws the error of the limit when the time is over */
  remainingMs(): number;
  /** Removes the limit: the rest of the work may take any time. @throws the error of the limit when the time is over */
  cancel(): void;
}

/**
 * Rejects with the result of `createError` if the work neither ends nor removes the limit within `milliseconds`. After that, the next step
 * of the work throws.
 */
export function withTimeLimit<T>(
  milliseconds: number,
  createError: () => Error,
  work: (limit: TimeLimit) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = performance.now() + milliseconds;
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      reject(createError());
    }, milliseconds);
    const remainingMs = () => {
      if (isOver) throw createError();
      return Math.max(0, end - performance.now());
    };
    const cancel = () => {
      remainingMs();
      clearTimeout(timer);
    };
    work({ remainingMs, cancel })
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

/**
 * Waits for work that may never end, such as the close of a connection whose peer does not respond. Ignores its result after
 * `milliseconds`.
 */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const stopWaiting = new AbortController();
  try {
    await Promise.race([work, wait(milliseconds, undefined, { signal: stopWaiting.signal })]);
  } finally {
    stopWaiting.abort();
  }
}
