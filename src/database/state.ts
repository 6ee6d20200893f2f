import type { Queryable } from './database.js';
import { literal, sql, statement } from './sql.js';

/** The size and the load of the database, for operators. */
export interface DatabaseState {
  readonly now: string;
  readonly version: string;
  readonly bytes: number;
  readonly connections: number;
  readonly max_connections: number;
  readonly tables: readonly { readonly name: string; readonly bytes: number; readonly rows: number }[];
}

export interface QueueState {
  readonly due: number;
  readonly oldest_seconds: number;
  readonly retrying: number;
}

const selectState = statement<Record<never, never>, DatabaseState>(
  'system_database',
  () => sql`
  select db_now() as now, current_setting('server_version') as version,
         pg_database_size(current_database())::float8 as bytes,
         (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
         current_setting('max_connections')::int as max_connections,
         (select coalesce(jsonb_agg(jsonb_build_object('name', name, 'bytes', bytes, 'rows', rows) order by bytes desc), '[]')
          from (select c.oid::regclass::text as name, pg_total_relation_size(c.oid) as bytes,
                       greatest(c.reltuples, 0)::bigint as rows
                from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where c.relkind = 'r' and n.nspname in (current_schema(), 'graphile_worker')
                order by 2 desc limit 10) largest) as tables`,
);

/** The maximum number of jobs that are counted: the exact number of a longer queue is not worth its cost. */
const maxCountedJobs = 10_000;

const selectQueue = statement<Record<never, never>, QueueState>(
  'system_queue',
  () => sql`
  with due as materialized (
    select run_at from graphile_worker._private_jobs where is_available = true and run_at <= now()
    order by priority, run_at limit ${literal(maxCountedJobs)}),
  retrying as materialized (
    select from graphile_worker._private_jobs where is_available = true and run_at > now() and attempts > 0
    limit ${literal(maxCountedJobs)})
  select (select count(*) from due)::int as due,
         coalesce(extract(epoch from now() - (select min(run_at) from due)), 0)::float8 as oldest_seconds,
         (select count(*) from retrying)::int as retrying`,
);

const selectMigrations = statement<Record<never, never>, { name: string; applied_at: string }>(
  'system_migrations',
  () => sql`select name, applied_at from schema_migrations order by name desc`,
);

/** Reads the size and the time of the database. */
export async function readDatabaseState(handle: Queryable): Promise<DatabaseState> {
  const [state] = await handle.query(selectState({}));
  if (state === undefined) throw new Error('the state of the database has no row');
  return state;
}

/** Reads how many jobs wait and how old they are. */
export async function readQueueState(handle: Queryable): Promise<QueueState> {
  const [state] = await handle.query(selectQueue({}));
  return state ?? { due: 0, oldest_seconds: 0, retrying: 0 };
}

/** The applied migrations, the newest first. */
export function readMigrations(handle: Queryable): Promise<{ name: string; applied_at: string }[]> {
  return handle.query(selectMigrations({}));
}

/** The metrics that are read from tables. */
export interface DatabaseMetrics {
  /** Jobs of each task and state, up to `maxCountedJobs` for each state. */
  readonly jobs: readonly { readonly task: string; readonly state: JobState; readonly count: number }[];
  /** Seconds for which the oldest job has been due. */
  readonly oldest_job: number;
  /** Seconds for which the longest locked job has been locked. Jobs that may take long do not count (`longTasks`). */
  readonly oldest_lock: number;
  /** How late the most delayed maintenance task is, in seconds. */
  readonly maintenance_lag: number;
}

/** due: it can run now. waiting: its time has not come, or it waits for another attempt. */
export type JobState = 'due' | 'waiting';

/** Jobs whose length depends on the data: erasing a user removes all their rows and images. All others have a time limit. */
const longTasks = sql`array['user.erase']`;

const selectMetrics = statement<Record<never, never>, DatabaseMetrics>(
  'metrics_database',
  () => sql`
  with due as materialized (
    select task_id, run_at from graphile_worker._private_jobs where is_available = true and run_at <= now()
    order by priority, run_at limit ${literal(maxCountedJobs)}),
  waiting as materialized (
    select task_id from graphile_worker._private_jobs where is_available = true and run_at > now()
    limit ${literal(maxCountedJobs)}),
  jobs as (
    select t.identifier as task, j.state, count(*)::int as count
    from (select task_id, 'due' as state from due
          union all select task_id, 'waiting' from waiting) j
    join graphile_worker._private_tasks t on t.id = j.task_id
    group by t.identifier, j.state)
  select coalesce((select jsonb_agg(to_jsonb(jobs) order by task, state) from jobs), '[]') as jobs,
         coalesce(greatest(0, extract(epoch from now() - (select min(run_at) from due))), 0)::float8 as oldest_job,
         coalesce(greatest(0, extract(epoch from now() - (
           select min(j.locked_at) from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
           where j.is_available = false and j.locked_at is not null and t.identifier <> all(${longTasks})))), 0)::float8
           as oldest_lock,
         coalesce((select extract(epoch from greatest(interval '0', db_now() - min(due_at))) from maintenance_tasks), 0)::float8
           as maintenance_lag`,
);

/** Reads the metrics that only the database knows. */
export async function readDatabaseMetrics(handle: Queryable): Promise<DatabaseMetrics> {
  const [row] = await handle.query(selectMetrics({}));
  return row ?? { jobs: [], oldest_job: 0, oldest_lock: 0, maintenance_lag: 0 };
}
