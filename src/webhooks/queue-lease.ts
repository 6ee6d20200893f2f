import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, isStorageFailure } from '../database/database.js';
import type { QueueRun, TakenDelivery } from './queue-run.js';
import {
  leaseSeconds,
  lockQueues,
  type ReturnedQueue,
  recountQueues,
  returnLease,
  settleQueues,
  type TakenRow,
  takeQueues,
} from './sending-queries.js';

/** Milliseconds between two attempts to write while the database is away. */
const writePause = 500;

/**
 * Queues of users of one endpoint that one worker has taken. No other worker takes them until they are returned or the
 * lease ends.
 */
export interface QueueLease {
  /**
   * Takes queues that are due.
   * @returns for each user, the deliveries in their order; `hadEmpty`: whether some of the queues had no
   *   delivery. They are free again, and others may be due
   */
  take(limit: number): Promise<{ readonly queues: ReadonlyMap<string, TakenDelivery[]>; readonly hadEmpty: boolean }>;
  /** Stores what a run did, and returns its queue. Runs that end while a statement runs share the next one. */
  settle(userId: string, run: QueueRun): Promise<void>;
  /** Returns every queue of the lease, also those that the database has given although no answer arrived. */
  end(): Promise<void>;
}

/** @param stopping aborted: do not wait for a database that is away */
export function createQueueLease(database: Database, endpointId: string, stopping: AbortSignal): QueueLease {
  const lease = randomUUID();
  let waiting: { userId: string; run: QueueRun }[] = [];
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    await last.catch(() => undefined);
    const runs = waiting;
    [waiting, next] = [[], undefined];
    last = write(runs);
    await last;
  }
  async function write(runs: typeof waiting): Promise<void> {
    const queues = runs.map(
      ({ userId, run: { taken, done, dueIn } }): ReturnedQueue => ({
        user_id: userId,
        taken,
        done,
        due_in: dueIn,
      }),
    );
    const results = runs.flatMap(({ run }) => run.results);
    const values = { endpointId, lease, queues: JSON.stringify(queues), results: JSON.stringify(results) };
    await writeInTime(stopping, () => database.query(settleQueues(values)));
  }
  return {
    async take(limit) {
      const taken = await database.query(takeQueues({ endpointId, lease, limit }));
      const empty = taken.filter(({ id }) => id === null).map(({ user_id }) => user_id);
      if (empty.length > 0) await returnEmpty(database, { endpointId, lease, userIds: empty });
      return { queues: byUser(taken), hadEmpty: empty.length > 0 };
    },
    settle(userId, run) {
      waiting.push({ userId, run });
      next ??= flush();
      return next;
    },
    end: () => writeInTime(stopping, () => database.query(returnLease({ endpointId, lease }))),
  };
}

/** Repeats a statement while the database is away, but not for longer than a lease. */
async function writeInTime(stopping: AbortSignal, write: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + leaseSeconds * 1000;
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isStorageFailure(error) || stopping.aborted || performance.now() > end) throw error;
    }
    await pause(writePause, undefined, { signal: stopping }).catch(() => undefined);
  }
}

/** Returns queues in which no delivery was found, although their counts say that there are some. */
async function returnEmpty(database: Database, queues: Parameters<typeof recountQueues>[0]): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(lockQueues(queues));
    await tx.query(recountQueues(queues));
  });
}

/** The deliveries of each user, in their order. */
function byUser(rows: readonly TakenRow[]): Map<string, TakenDelivery[]> {
  const users = new Map<string, TakenDelivery[]>();
  for (const row of rows) {
    if (row.id === null) continue;
    const delivery = { ...row, id: row.id };
    const known = users.get(row.user_id);
    if (known === undefined) users.set(row.user_id, [delivery]);
    else known.push(delivery);
  }
  return users;
}
