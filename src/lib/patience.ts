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
