import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Awaited in each step of a loop. It waits when the loop has taken its time: then input and output, and the other loops of
 * the same pacer, have their turn first. Where it is not time yet it returns undefined.
 */
export type Pace = () => Promise<void> | undefined;

/** Keeps loops over input from holding the event loop, however long the input is. */
export interface Pacer {
  /** The pace of one loop, which begins now. */
  begin(): Pace;
}

export interface PacerOptions {
  /** Milliseconds that a loop takes at a time. */
  readonly slice?: number;
  /** Milliseconds, from any origin. */
  readonly now?: () => number;
  /** Resolves in the next turn of the event loop, after input and output. */
  readonly turn?: () => Promise<void>;
}

/**
 * One loop goes on in each turn of the event loop, first come first served. If each of them went on in the same turn, a
 * hundred loops would hold the event loop for a hundred slices.
 */
export function createPacer({
  slice = 3,
  now = () => performance.now(),
  turn = () => nextTurn(),
}: PacerOptions = {}): Pacer {
  const waiting: (() => void)[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    for (;;) {
      await turn();
      const goOn = waiting.shift();
      if (goOn === undefined) break;
      goOn();
    }
    isRunning = false;
  }

  return {
    begin() {
      let since = now();
      return () => {
        if (now() - since < slice) return undefined;
        return new Promise((resolve) => {
          waiting.push(() => {
            since = now();
            resolve();
          });
          if (!isRunning) void run();
        });
      };
    },
  };
}

/** `map` at a pace. */
export async function mapAtPace<Item, Result>(
  pace: Pace,
  items: readonly Item[],
  make: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    const pause = pace();
    if (pause !== undefined) await pause;
    results.push(make(item));
  }
  return results;
}
