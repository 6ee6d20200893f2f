import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Call it in each step of a loop, and await what it returns. It returns undefined until the loop has used its time slice.
 * Then it returns a promise, which resolves after the event loop has handled input and output, and after the loops that
 * already wait have continued.
 */
export type Pace = () => Promise<void> | undefined;

/** Prevents loops over long input from blocking the event loop. */
export interface Pacer {
  /** The pace of one loop, which starts now. */
  begin(): Pace;
}

export interface PacerOptions {
  /** The time slice of a loop, in milliseconds. */
  readonly slice?: number;
  /** Returns the time in milliseconds since any fixed moment. */
  readonly now?: () => number;
  /** Resolves in the next turn of the event loop, after input and output. */
  readonly turn?: () => Promise<void>;
}

/**
 * One loop continues in each turn of the event loop, in the order of arrival. If all loops continued in the same turn, a
 * hundred loops would block the event loop for a hundred slices.
 */
export function createPacer({
  slice = 3,
  now = () => performance.now(),
  turn = () => nextTurn(),
}: PacerOptions = {}): Pacer {
  const waiting: (() => void)[] = [];
  let isRunning = false;

  async function resumeWaiting(): Promise<void> {
    isRunning = true;
    for (;;) {
      await turn();
      const resume = waiting.shift();
      if (resume === undefined) break;
      resume();
    }
    isRunning = false;
  }

  return {
    begin() {
      let sliceStart = now();
      return () => {
        if (now() - sliceStart < slice) return undefined;
        return new Promise((resolve) => {
          waiting.push(() => {
            sliceStart = now();
            resolve();
          });
          if (!isRunning) void resumeWaiting();
        });
      };
    },
  };
}

/** Like `map` of an array, but pauses each time the loop has used its time slice. */
export async function mapWithPauses<Item, Result>(
  pace: Pace,
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    const pause = pace();
    if (pause !== undefined) await pause;
    results.push(map(item));
  }
  return results;
}
