import { setTimeout as wait } from 'node:timers/promises';

/** Creates one queue for each account. Requests for the same account run one after the other. */
export function createTurnQueues() {
  /** For each account, a promise that resolves when the last request in its queue has ended. */
  const ends = new Map<string, Promise<unknown>>();
  /** For each account, the controller that ends the pause of the first request in its queue. */
  const pauses = new Map<string, AbortController>();
  return {
    /** Runs `work` when all earlier work for the account has ended. @param key the id of the account */
    async inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
      const previousEnd = ends.get(key) ?? Promise.resolve();
      const result = previousEnd.then(work);
      const end = result.catch(() => undefined);
      ends.set(key, end);
      try {
        return await result;
      } finally {
        if (ends.get(key) === end) ends.delete(key);
      }
    },
    /** Lets the first request in the account's queue wait for this time, or until `wake` is called for the account. */
    async pause(key: string, milliseconds: number): Promise<void> {
      const controller = new AbortController();
      pauses.set(key, controller);
      await wait(milliseconds, undefined, { signal: controller.signal }).catch(() => undefined);
      pauses.delete(key);
    },
    /** Ends the pause of the first request in the account's queue. */
    wake(key: string): void {
      pauses.get(key)?.abort();
    },
  };
}
