import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Counts bytes that were read for a key.
 * @returns milliseconds until the next bytes may be read. 0: at once
 */
export type BytePace = (key: string, bytes: number) => number;

export interface BytePaceOptions {
  /** Bytes a second for each key. */
  readonly rate: number;
  /** Bytes that a key may read at once, after it has read none for a time. */
  readonly burst: number;
  /** Milliseconds of a clock that never steps back. */
  readonly now?: () => number;
}

/** The longest wait, in milliseconds. It bounds what a key owes, so that a client does not wait for what others sent long ago. */
export const maxPaceMs = 15_000;

/** The number of keys from which on those that have caught up are removed. */
const maxIdleKeys = 1000;

/** Creates a pace for many keys. All readers of a key share its rate. */
export function createBytePace({ rate, burst, now = () => performance.now() }: BytePaceOptions): BytePace {
  /** For each key, when its bytes so far fit its rate. */
  const due = new Map<string, number>();
  const burstMs = (burst / rate) * 1000;
  let sweepAt = maxIdleKeys;

  function sweep(time: number): void {
    for (const [key, at] of due) if (at <= time - burstMs) due.delete(key);
    sweepAt = Math.max(maxIdleKeys, 2 * due.size);
  }

  return (key, bytes) => {
    const time = now();
    const unbounded = Math.max(due.get(key) ?? 0, time - burstMs) + (bytes / rate) * 1000;
    const at = Math.min(unbounded, time + maxPaceMs);
    due.set(key, at);
    if (due.size > sweepAt) sweep(time);
    return Math.max(0, at - time);
  };
}

/** Waits as long as a pace says. @throws AbortError as soon as the signal is aborted, so that nothing is kept for a closed connection */
export const waitForPace = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { ref: false, signal });
