/** What work under a time limit must ask before each step. */
export interface TimeLimit {
  /** Milliseconds that are left. @throws the limit's error when the time is over */
  left(): number;
  /** From here on the work is finished, however long it takes. @throws the limit's error when the time is over */
  lift(): void;
}

/**
 * Rejects with `late()` when the work has not lifted the limit within so many milliseconds. What the work still does then,
 * it does for nobody: its next step throws.
 */
export function withTimeLimit<T>(
  milliseconds: number,
  late: () => Error,
  work: (limit: TimeLimit) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = performance.now() + milliseconds;
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      reject(late());
    }, milliseconds);
    const left = () => {
      if (isOver) throw late();
      return Math.max(0, end - performance.now());
    };
    const lift = () => {
      left();
      clearTimeout(timer);
    };
    work({ left, lift })
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
