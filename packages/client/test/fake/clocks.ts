// Clocks that a test moves, so that it can check limits of seconds exactly and waits for none of them.
import { onTestFinished, vi } from 'vitest';

const realImmediate = setImmediate;

/** Lets everything run that waits for no timer. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => realImmediate(resolve));
}

export interface Clocks {
  /** The milliseconds since the start. */
  now(): number;
  /** Moves the clocks in steps of this many milliseconds, and lets everything run after each. */
  advance(milliseconds: number, step?: number): Promise<void>;
  /** Moves the clocks until this is true. @returns the milliseconds that it took @throws if it takes longer than the limit */
  until(what: string, is: () => boolean, limit: number): Promise<number>;
}

/** Until the end of the test, timers and clocks of this process move only by `advance`. */
export function stopClocks(): Clocks {
  const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;
  vi.useFakeTimers({ toFake: [...toFake], now: Date.now() });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const start = performance.now();
  const clocks: Clocks = {
    now: () => performance.now() - start,
    async advance(milliseconds, step = 50) {
      await settle();
      for (let passed = 0; passed < milliseconds; passed += step) {
        vi.advanceTimersByTime(Math.min(step, milliseconds - passed));
        await settle();
      }
    },
    async until(what, is, limit) {
      await settle();
      const before = clocks.now();
      while (!is()) {
        if (clocks.now() - before >= limit) throw new Error(`after ${limit} ms, there is still no ${what}`);
        await clocks.advance(50);
      }
      return clocks.now() - before;
    },
  };
  return clocks;
}
