import type { Database, Transaction } from '../../database/database.js';
import { MovedError } from '../../database/server.js';
import { splitByShard } from '../../database/sharding/routing.js';
import { onServerOf } from '../../database/sql.js';
import { type Deliveries, insertMany, type PendingInsert } from './publish-many.js';

/** Returns the places in `userIds` of each server's users. */
export type DividePlaces = (userIds: readonly string[]) => readonly (readonly number[])[];

/** Creates the function that divides users among their servers. Undefined with one server. */
export function placesByShard(database: Database): DividePlaces | undefined {
  if (database.shards.length === 1) return undefined;
  return (userIds) => {
    const parts = splitByShard(database, [...userIds.keys()], (place) => userIds[place] ?? '');
    // All publishers use the servers in this order, so two of them never wait for each other in a cycle.
    return database.shards.flatMap((shard) => {
      const part = parts.get(shard);
      return part === undefined ? [] : [part];
    });
  };
}

/**
 * Inserts many notifications as `insertMany` does, for users on several servers in one transaction. The heads (the rows
 * in `inboxes`) move on one server after the other, and the rows are inserted at the same time.
 * @throws MovedError if users have moved since the request was divided
 */
export async function insertSpread(
  tx: Transaction<'user'>,
  userIds: readonly string[],
  prepare: () => Promise<Deliveries>,
  pushes: boolean,
  divide: DividePlaces,
): Promise<PendingInsert> {
  const deliveries = await prepare();
  const places = divide(userIds);
  const sequences = userIds.map(() => 0);
  const times = new BigInt64Array(userIds.length);
  const insertions: Promise<void>[] = [];
  try {
    for (const part of places) {
      const own = partOf(deliveries, part);
      const [first = ''] = own.userIds;
      const query: typeof tx.query = (statement) => tx.query(onServerOf(first, statement));
      const pending = await insertMany({ ...tx, query }, own.userIds, async () => own, pushes);
      insertions.push(pending.inserted);
      for (const [index, place] of part.entries()) {
        sequences[place] = pending.sequences[index] ?? 0;
        times[place] = pending.times[index] ?? 0n;
      }
    }
  } catch (error) {
    await Promise.allSettled(insertions);
    throw error;
  }
  const inserted = allInserted(insertions);
  if (sequences.includes(0)) {
    await inserted;
    // The inbox of a user who has moved is on another server.
    if (JSON.stringify(divide(userIds)) !== JSON.stringify(places)) {
      throw new MovedError(new Error('users of the publication were moved'));
    }
  }
  return { deliveries, sequences, times, inserted };
}

async function allInserted(insertions: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(insertions)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** The deliveries at these places, with only their contents. */
function partOf({ ids, userIds, items, contents }: Deliveries, places: readonly number[]): Deliveries {
  const pick = <Value>(values: readonly Value[]) => places.flatMap((place) => values[place] ?? []);
  const positions = new Map<number, number>();
  const own = pick(items).map((item) => {
    const position = positions.get(item) ?? positions.size + 1;
    positions.set(item, position);
    return position;
  });
  return {
    ids: pick(ids),
    userIds: pick(userIds),
    items: own,
    contents: [...positions.keys()].flatMap((item) => contents[item - 1] ?? []),
  };
}
