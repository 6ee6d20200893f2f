import { setTimeout as wait } from 'node:timers/promises';

/** Queues by account: requests for the same account run one after the other. */
export function createTurnQueues() {
  /** The end of each account's queue. */
  const ends = new Map<string, Promise<unknown>>();
  /** The pause of the first request in each account's queue. */
  const pauses = new Map<string, AbortController>();
  return {
    /** Runs `turn` after the turns that were queued for the account before. */
    async inTurn<T>(key: string, turn: () => Promise<T>): Promise<T> {
      const before = ends.get(key) ?? Promise.resolve();
      const own = before.then(turn);
      const settled = own.catch(() => undefined);
      ends.set(key, settled);
      try {
        return await own;
      } finally {
        if (ends.get(key) === settled) ends.delete(key);
      }
    },
    /** Waits until `wake` is called for the account, or until the milliseconds have passed. */
    async pause(key: string, milliseconds: number): Promise<void> {
      const own = new AbortController();
      pauses.set(key, own);
      await wait(milliseconds, undefined, { signal: own.signal }).catch(() => undefined);
      pauses.delete(key);
    },
    /** Ends the pause of the first request in the account's queue. */
    wake(key: string): void {
      pauses.get(key)?.abort();
    },
  };
}
