/** Items that one part puts in, and another takes out in the same order. */
export interface Queue<T> {
  put(item: T): void;
  /** The next item, as soon as there is one. Only one caller waits at a time. */
  take(): Promise<T>;
  /** The present content. */
  readonly items: readonly T[];
}

export function createQueue<T>(): Queue<T> {
  const items: T[] = [];
  let wake = () => {};
  return {
    items,
    put(item) {
      items.push(item);
      wake();
    },
    async take() {
      if (items.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return items.shift() as T;
    },
  };
}
