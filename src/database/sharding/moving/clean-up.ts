import type pg from 'pg';
import { deleteRows, usersOf } from './copy.js';
import { inTransaction } from './guard.js';
import { unpackLuggage } from './luggage.js';
import type { MoveTimes, Planned, Servers } from './move-options.js';
import { userTables, workTables } from './tables.js';

const isEvents = ({ name }: { readonly name: string }) => name === 'events';
const allTables = [...userTables, ...workTables];

/** The tables of a server in which the move makes notes about a bucket. */
const noteTables = ['shard_luggage', 'shard_changes', 'shard_moving_users', 'shard_moving_jobs', 'shard_moving'];

/**
 * After the switch, deletes the rows on the former server, so that nobody counts them twice. The audit events stay until
 * `cleanUp`, because audit streams still read them.
 */
export async function deleteFormerRows({ of }: Servers, { bucket, source }: Planned, times: MoveTimes): Promise<void> {
  const from = of(source);
  const tables = allTables.filter((table) => !isEvents(table));
  await deleteRows(from, tables, await usersOf(from, bucket), times);
}

/** Deletes all that is left of a bucket on its former server, and the notes about its move. */
export async function cleanUp(
  { directory, of }: Servers,
  { bucket, source }: Planned,
  times: MoveTimes,
): Promise<void> {
  const from = of(source);
  await deleteRows(from, allTables.filter(isEvents), await usersOf(from, bucket), times);
  await forget(from, [bucket]);
  await directory.query('delete from shard_moves where bucket = $1', [bucket]);
}

/** Takes back the moves of buckets that still are on their former servers. */
export async function cancel({ directory, of }: Servers, moves: readonly Planned[], times: MoveTimes): Promise<void> {
  for (const { bucket, source, target } of moves.filter(({ isResumed }) => isResumed)) {
    // A command that was killed may have left rows on the target, and may have stopped the bucket.
    await deleteRows(of(target), allTables, await usersOf(of(source), bucket), times);
    await inTransaction(of(source), () => unpackLuggage(of(source), bucket));
  }
  const buckets = moves.map(({ bucket }) => bucket);
  for (const name of new Set(moves.flatMap(({ source, target }) => [target, source]))) await forget(of(name), buckets);
  await directory.query('delete from shard_moves where bucket = any ($1)', [buckets]);
}

function forget(client: pg.Client, buckets: readonly number[]): Promise<void> {
  return inTransaction(client, async () => {
    for (const table of noteTables) await client.query(`delete from ${table} where bucket = any ($1)`, [buckets]);
  });
}
