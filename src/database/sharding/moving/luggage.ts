import type pg from 'pg';
import { insertRows } from './copy.js';
import { jobTable, workTables } from './tables.js';

/**
 * A bucket cannot be stopped now, for example because a job of one of its users runs: the results of the job must be on the
 * server on which it began.
 */
export class BusyError extends Error {}

/** SQL: the users and the jobs of the bucket $1. */
const users = 'select user_id from shard_moving_users where bucket = $1';
const jobs = 'select job_id from shard_moving_jobs where bucket = $1';

/** SQL: whether one of the users of a row `t` is in the bucket $1, and whether all are. */
const concernsBucket = 'exists (select from unnest(t.user_ids) u where user_bucket(u) = $1)';
const isOfBucketOnly = 'not exists (select from unnest(t.user_ids) u where user_bucket(u) <> $1)';

/** SQL: whether a sender of webhooks has leased the queue of a user. */
const isLeased = 'lease is not null and due_at > db_now()';

/** Finds out, without a lock, what works for a bucket, so that it cannot move now. Undefined: nothing. */
export async function findWork(source: pg.Client, bucket: number): Promise<string | undefined> {
  const { rows } = await source.query<{ work: string | null }>(
    `select case
       when exists (select from publications t where ${concernsBucket}) then 'pushes of one of its users are not in the queue yet'
       when exists (select from webhook_outbox t where ${concernsBucket} and not ${isOfBucketOnly})
         then 'events of one of its users and of others have no number for webhooks yet'
       when exists (select from ${jobTable} where id in (${jobs}) and locked_at is not null)
         then 'a job of one of its users runs'
       when exists (select from webhook_queues where user_id in (${users}) and ${isLeased})
         then 'webhooks of one of its users are being sent'
     end as work`,
    [bucket],
  );
  return rows[0]?.work ?? undefined;
}

/**
 * Takes the work of a bucket out of the tables in which relays and the queue would find it, and puts it into the table
 * `shard_luggage`. Call it after `takeChanged`, in a transaction that holds the lock of the bucket.
 * @throws BusyError
 */
export async function packLuggage(source: pg.Client, bucket: number): Promise<void> {
  // While these rows are locked, no worker and no relay takes them.
  await source.query(`select from ${jobTable} where id in (${jobs}) for update`, [bucket]);
  await source.query(`select from webhook_queues where user_id in (${users}) for update`, [bucket]);
  await source.query(`select from webhook_outbox t where ${concernsBucket} for update`, [bucket]);
  const work = await findWork(source, bucket);
  if (work !== undefined) throw new BusyError(work);
  const pack = (kind: string, taken: string) =>
    source.query(
      `with taken as (${taken})
       insert into shard_luggage (bucket, kind, row) select $1::smallint, '${kind}', taken.row from taken`,
      [bucket],
    );
  await pack(
    'jobs',
    `delete from ${jobTable} j using graphile_worker._private_tasks t
     where t.id = j.task_id and j.id in (${jobs})
     returning (to_jsonb(j) || jsonb_build_object('task', t.identifier))::text as row`,
  );
  await pack('webhook_outbox', `delete from webhook_outbox t where ${concernsBucket} returning t::text as row`);
  for (const { name, column } of workTables) {
    await pack(name, `delete from ${name} t where ${column} in (${users}) returning t::text as row`);
  }
}

/**
 * Takes the work of a bucket out of `shard_luggage`, so that relays and the queue of this server find it. Call it in a
 * transaction.
 */
export async function unpackLuggage(client: pg.Client, bucket: number): Promise<void> {
  const { rows } = await client.query<{ kind: string; row: string }>(
    'delete from shard_luggage where bucket = $1 returning kind, row',
    [bucket],
  );
  const rowsOf = (kind: string) => rows.filter((item) => item.kind === kind).map(({ row }) => row);
  for (const { name } of workTables) {
    await insertRows(
      client,
      name,
      rowsOf(name).map((row) => ({ row })),
    );
  }
  await insertOutbox(client, rowsOf('webhook_outbox'));
  const packedJobs = rowsOf('jobs');
  if (packedJobs.length === 0) return;
  await client.query(
    `insert into graphile_worker._private_tasks (identifier)
     select distinct job->>'task' from (select text::jsonb as job from unnest($1::text[]) text) as jobs
     on conflict do nothing`,
    [packedJobs],
  );
  await client.query(
    `insert into ${jobTable}
       (task_id, payload, priority, run_at, attempts, max_attempts, last_error, created_at, key, flags)
     select t.id, (job->'payload')::json, (job->>'priority')::smallint, (job->>'run_at')::timestamptz,
            (job->>'attempts')::smallint, (job->>'max_attempts')::smallint, job->>'last_error',
            (job->>'created_at')::timestamptz, job->>'key', nullif(job->'flags', 'null')
     from (select text::jsonb as job from unnest($1::text[]) text) as jobs
     join graphile_worker._private_tasks t on t.identifier = job->>'task'
     on conflict (key) do nothing`,
    [packedJobs],
  );
  await client.query(`select pg_notify('jobs:insert', '{"r":0,"count":1}')`);
}

/**
 * Inserts events that have no number yet. Their times give the order of a user's events. If the clock of this server is
 * behind, they get earlier times, so that the user's next events on this server have later times.
 */
async function insertOutbox(client: pg.Client, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  await insertRows(
    client,
    'webhook_outbox',
    rows.map((row) => ({ row })),
  );
  await client.query(
    `update webhook_outbox set created_at = created_at - ahead
     from (select max(created_at) - db_now() as ahead from webhook_outbox where xmin = pg_current_xact_id()::xid) clock
     where xmin = pg_current_xact_id()::xid and ahead > interval '0'`,
  );
}
