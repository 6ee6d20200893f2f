import { Problem } from './problem.js';

/** Runs tasks, a bounded number at a time, first come first served. */
export type Turnstile = <T>(task: () => Promise<T>) => Promise<T>;

export interface TurnstileOptions {
  /** Tasks that may run at a time. */
  readonly width: number;
  /** Tasks that may wait. */
  readonly length: number;
  /** Milliseconds that one waits at most; without it as long as it takes. */
  readonly patience?: number;
  /** Called when nobody is left in it. */
  readonly onIdle?: () => void;
  /**
   * As long as at least `size` tasks wait, those that are done go on so many at a time, or after this many milliseconds:
   * what comes after them then finds the caches warm that the tasks have emptied. The next task begins at once all the same.
   */
  readonly company?: { readonly size: number; readonly patience: number };
}

/** @returns a turnstile that throws Problem `overloaded` when too many wait already, or one has waited for too long. */
export function createTurnstile({ width, length, patience, onIdle, company }: TurnstileOptions): Turnstile {
  const waiting = new Set<() => void>();
  let running = 0;
  const leave = company === undefined ? undefined : createCompany(company, () => waiting.size);

  function turn(): Promise<void> {
    if (waiting.size >= length) throw new Problem('overloaded', { retryAfter: 1 });
    return new Promise((resolve, reject) => {
      const go = () => {
        clearTimeout(timer);
        waiting.delete(go);
        resolve();
      };
      const timer =
        patience === undefined
          ? undefined
          : setTimeout(() => {
              waiting.delete(go);
              reject(new Problem('overloaded', { retryAfter: 1 }));
            }, patience);
      waiting.add(go);
    });
  }

  return async (task) => {
    if (running >= width) await turn();
    else running += 1;
    try {
      return await task();
    } finally {
      // A waiting task takes over this one's place, so the count stays.
      const [next] = waiting;
      if (next === undefined) running -= 1;
      else next();
      if (running === 0) onIdle?.();
      if (leave !== undefined) await leave();
    }
  };
}

function createCompany(
  { size, patience }: { readonly size: number; readonly patience: number },
  waiting: () => number,
) {
  let leaving: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  function go(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const each of leaving) each();
    leaving = [];
  }

  return () =>
    new Promise<void>((resolve) => {
      leaving.push(resolve);
      if (leaving.length >= size || waiting() < size) go();
      else timer ??= setTimeout(go, patience);
    });
}

/** A turnstile for each key, for as long as somebody is in it. */
export function createLanes(options: Omit<TurnstileOptions, 'onIdle'>): (key: string) => Turnstile {
  const lanes = new Map<string, Turnstile>();
  return (key) => {
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const lane = createTurnstile({ ...options, onIdle: () => lanes.delete(key) });
    lanes.set(key, lane);
    return lane;
  };
}
