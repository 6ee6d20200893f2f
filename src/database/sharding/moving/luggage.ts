import type pg from 'pg';
import { insertRows } from './copy.js';
import { workTables } from './tables.js';

/** A job or a relay works for the bucket now. Its results must be on the server on which it began. */
export class BusyError extends Error {}

const jobUser = `(payload->>'user_id')::uuid`;

/**
 * Takes the work of a bucket out of the tables in which relays and the queue would find it. Call it in a transaction that
 * holds the lock of the bucket.
 * @throws BusyError
 */
export async function packLuggage(source: pg.Client, bucket: number): Promise<void> {
  for (const table of ['publications', 'webhook_outbox']) {
    const { rows } = await source.query(
      `select from ${table} t where exists (select from unnest(t.user_ids) u where user_bucket(u) = $1) limit 1`,
      [bucket],
    );
    if (rows.length > 0) throw new BusyError('a relay has not taken a change of the bucket yet');
  }
  const { rows: jobs } = await source.query<{ busy: boolean }>(
    `select locked_at is not null as busy from graphile_worker._private_jobs
     where user_bucket(${jobUser}) = $1 for update`,
    [bucket],
  );
  if (jobs.some(({ busy }) => busy)) throw new BusyError('a job of the bucket runs');
  const pack = (kind: string, taken: string) =>
    source.query(
      `with taken as (${taken})
       insert into shard_luggage (bucket, kind, row) select $1::smallint, '${kind}', taken.row from taken`,
      [bucket],
    );
  await pack(
    'jobs',
    `delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
     where t.id = j.task_id and user_bucket(${jobUser}) = $1
     returning (to_jsonb(j) || jsonb_build_object('task', t.identifier))::text as row`,
  );
  for (const { name, column } of workTables) {
    await pack(name, `delete from ${name} t where user_bucket(${column}) = $1 returning t::text as row`);
  }
}

/** Makes the work of a bucket available to the machinery of this server. Call it in a transaction. */
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
  const jobs = rowsOf('jobs');
  if (jobs.length === 0) return;
  await client.query(
    `insert into graphile_worker._private_tasks (identifier)
     select distinct job->>'task' from (select text::jsonb as job from unnest($1::text[]) text) as jobs
     on conflict do nothing`,
    [jobs],
  );
  await client.query(
    `insert into graphile_worker._private_jobs
       (task_id, payload, priority, run_at, attempts, max_attempts, last_error, created_at, key, flags)
     select t.id, (job->'payload')::json, (job->>'priority')::smallint, (job->>'run_at')::timestamptz,
            (job->>'attempts')::smallint, (job->>'max_attempts')::smallint, job->>'last_error',
            (job->>'created_at')::timestamptz, job->>'key', nullif(job->'flags', 'null')
     from (select text::jsonb as job from unnest($1::text[]) text) as jobs
     join graphile_worker._private_tasks t on t.identifier = job->>'task'
     on conflict (key) do nothing`,
    [jobs],
  );
  await client.query(`select pg_notify('jobs:insert', '{"r":0,"count":1}')`);
}
