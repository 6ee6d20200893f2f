import { setTimeout as wait } from 'node:timers/promises';

/** Queues by account: requests for the same account run one after the other. */
export function createTurnQueues() {
  const lasts = new Map<string, Promise<unknown>>();
  const firsts = new Map<string, AbortController>();
  return {
    /** Runs `turn` after the turns that were queued for the account before. */
    async inTurn<T>(key: string, turn: () => Promise<T>): Promise<T> {
      const before = lasts.get(key) ?? Promise.resolve();
      const own = before.then(turn);
      const settled = own.catch(() => undefined);
      lasts.set(key, settled);
      try {
        return await own;
      } finally {
        if (lasts.get(key) === settled) lasts.delete(key);
      }
    },
    /** Waits until `wake` is called for the account, or until the milliseconds have passed. */
    async pause(key: string, milliseconds: number): Promise<void> {
      const own = new AbortController();
      firsts.set(key, own);
      await wait(milliseconds, undefined, { signal: own.signal }).catch(() => undefined);
      firsts.delete(key);
    },
    /** Ends the pause of the first request in the account's queue. */
    wake(key: string): void {
      firsts.get(key)?.abort();
    },
  };
}
