import type pg from 'pg';
import { withShortLocks } from './guard.js';
import type { MoveTimes } from './move-options.js';
import { jobTable, type UserTable, userTables, workTables } from './tables.js';

/** How many users one statement copies or deletes. */
const batchSize = 200;
/** How many rows one statement inserts. */
const rowBatchSize = 2000;

/** SQL: the user of a job. */
const jobUser = `(payload->>'user_id')::uuid`;

/** Notes the users and jobs of the buckets with one pass over each table, because no index finds them. */
export async function listUsers(source: pg.Client, buckets: readonly number[]): Promise<void> {
  for (const { name, column } of [...userTables, ...workTables]) {
    await source.query(
      `insert into shard_moving_users (bucket, user_id)
       select distinct user_bucket(${column}), ${column} from ${name} where user_bucket(${column}) = any ($1)
       on conflict do nothing`,
      [buckets],
    );
  }
  await source.query(
    `insert into shard_moving_jobs (bucket, job_id)
     select user_bucket(${jobUser}), id from ${jobTable} where user_bucket(${jobUser}) = any ($1)
     on conflict do nothing`,
    [buckets],
  );
}

/** The users of a bucket whom `listUsers` and `takeChanged` have noted. */
export async function usersOf(source: pg.Client, bucket: number): Promise<string[]> {
  const { rows } = await source.query<{ user_id: string }>('select user_id from shard_moving_users where bucket = $1', [
    bucket,
  ]);
  return rows.map(({ user_id }) => user_id);
}

/** Takes the users whose rows have changed since the last call, and notes those that are new. */
export async function takeChanged(source: pg.Client, bucket: number): Promise<string[]> {
  const { rows } = await source.query<{ user_id: string }>(
    `with taken as (delete from shard_changes where bucket = $1 returning user_id),
          known as (insert into shard_moving_users (bucket, user_id) select distinct $1::smallint, user_id from taken
                    on conflict do nothing)
     select distinct user_id from taken`,
    [bucket],
  );
  return rows.map(({ user_id }) => user_id);
}

/**
 * Copies all rows of users into the open transaction of the target, and replaces those that it copied before.
 * @throws the reason of the signal
 */
export async function copyUsers(
  source: pg.Client,
  target: pg.Client,
  users: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  for (const batch of batchesOf(users, batchSize)) {
    signal?.throwIfAborted();
    for (const { name, column } of userTables) {
      await target.query(`delete from ${name} where ${column} = any ($1)`, [batch]);
    }
    for (const { name, column } of userTables) {
      const { rows } = await source.query<{ row: string }>(
        `select t::text as row from ${name} t where ${column} = any ($1)`,
        [batch],
      );
      for (const part of batchesOf(rows, rowBatchSize)) await insertRows(target, name, part);
    }
    await forgetAnnouncements(target);
  }
}

/** Inserts rows that are in the text form of their table's type. This form keeps every value as it is. */
export async function insertRows(
  target: pg.Client,
  table: string,
  rows: readonly { readonly row: string }[],
): Promise<void> {
  // A trigger of `users` has inserted the row of `imported_hashes` already.
  const end = table === 'imported_hashes' ? 'on conflict do nothing' : '';
  // `offset 0` keeps the server from converting the text once for each column.
  await target.query(
    `insert into ${table} select (r).* from (select text::${table} as r from unnest($1::text[]) text offset 0) as rows ${end}`,
    [rows.map(({ row }) => row)],
  );
}

/** Removes what triggers noted about the copied rows: their events have been announced on the former server. */
async function forgetAnnouncements(target: pg.Client): Promise<void> {
  await target.query('delete from event_feed where transaction = pg_current_xact_id()');
  await target.query('delete from webhook_outbox where xmin = pg_current_xact_id()::xid');
}

/** Deletes the rows of users, in batches of users. */
export async function deleteRows(
  client: pg.Client,
  tables: readonly UserTable[],
  users: readonly string[],
  times: MoveTimes,
): Promise<void> {
  for (const batch of batchesOf(users, batchSize)) {
    await withShortLocks(client, times, 'former rows of users that have moved', async () => {
      for (const { name, column } of tables) {
        await client.query(`delete from ${name} where ${column} = any ($1)`, [batch]);
      }
      await forgetAnnouncements(client);
    });
  }
}

function batchesOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, place) =>
    items.slice(place * size, (place + 1) * size),
  );
}
