import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waits for something that may never end, such as the close of a connection whose other end is silent. What it comes
 * to after `milliseconds` no longer matters.
 */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, wait(milliseconds, undefined, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}

/** Nothing came in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
  constructor() {
    super('TimeoutError');
  }
}

/** The same for what is needed. @throws TimeoutError when it has not come within `milliseconds` */
export async function needWithin<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = wait(milliseconds, undefined, { signal: over.signal }).then(() => {
    throw new TimeoutError();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}
