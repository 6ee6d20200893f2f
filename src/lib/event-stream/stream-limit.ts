import { Problem } from '../problem.js';

/** Counts the streams of each client, including those that are being opened. */
export interface StreamLimit {
  /** @throws Problem `too_many_streams` */
  acquire(client: string): void;
  release(client: string): void;
}

/**
 * The maximum number of streams of one client in one process: several devices, and connections that a phone leaves
 * behind when it changes networks.
 */
const maxPerClient = 20;

/** @param max the maximum number of streams of one client in one process */
export function createStreamLimit(max = maxPerClient): StreamLimit {
  const counts = new Map<string, number>();
  return {
    acquire(client) {
      const count = counts.get(client) ?? 0;
      if (count >= max) throw new Problem('too_many_streams', { retryAfter: 30 });
      counts.set(client, count + 1);
    },
    release(client) {
      const count = counts.get(client) ?? 0;
      if (count > 1) counts.set(client, count - 1);
      else counts.delete(client);
    },
  };
}
