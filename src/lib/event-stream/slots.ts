import { Problem } from '../problem.js';

/** Counts the streams of each client, including those that are being opened. */
export interface Slots {
  /** @throws Problem `too_many_streams` */
  take(client: string): void;
  leave(client: string): void;
}

/** Streams of one client on one instance: several devices, and connections that a phone leaves behind when it changes networks. */
const maxPerClient = 20;

export function createSlots(): Slots {
  const taken = new Map<string, number>();
  return {
    take(client) {
      const count = taken.get(client) ?? 0;
      if (count >= maxPerClient) throw new Problem('too_many_streams', { retryAfter: 30 });
      taken.set(client, count + 1);
    },
    leave(client) {
      const count = taken.get(client) ?? 0;
      if (count > 1) taken.set(client, count - 1);
      else taken.delete(client);
    },
  };
}
