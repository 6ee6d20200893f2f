import { setTimeout as wait } from 'node:timers/promises';

/**
 * Counts bytes that were read for a key.
 * @returns undefined if the next bytes may be read at once; otherwise a promise that resolves when they may
 */
export type BytePace = (key: string, bytes: number) => Promise<void> | undefined;

export interface BytePaceOptions {
  /** Bytes a second for each key. */
  readonly rate: number;
  /** Bytes that a key may read at once, after it has read none for a time. */
  readonly burst: number;
  /** Milliseconds of a clock that never steps back. */
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
}

/** The number of keys from which on those that have caught up are removed. */
const maxIdleKeys = 1000;

/** Creates a pace for many keys. All readers of a key share its rate. */
export function createBytePace({
  rate,
  burst,
  now = () => performance.now(),
  sleep = (ms) => wait(ms, undefined, { ref: false }),
}: BytePaceOptions): BytePace {
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
    const at = Math.max(due.get(key) ?? 0, time - burstMs) + (bytes / rate) * 1000;
    due.set(key, at);
    if (due.size > sweepAt) sweep(time);
    return at <= time ? undefined : sleep(at - time);
  };
}
