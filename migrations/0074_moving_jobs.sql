-- On the server that a bucket leaves: the jobs of its users, so that the stop of their writes does not search all jobs.
create table shard_moving_jobs (
  bucket smallint not null,
  job_id bigint not null,
  primary key (bucket, job_id)
);

-- The trigger of the table of jobs, during a move. As `guard_moving_user`: a job waits for the mover, or is refused.
create function guard_moving_job() returns trigger language plpgsql as $$
declare
  job_bucket smallint := user_bucket((new.payload->>'user_id')::uuid);
begin
  if current_setting('postern.moves', true) = 'on' then return null; end if;
  if not exists (select from shard_moving where bucket = job_bucket) then return null; end if;
  perform pg_advisory_xact_lock_shared(7203415, job_bucket);
  if exists (select from shard_moving where bucket = job_bucket and is_stopped) then
    raise exception 'the user is being moved to another server, or has been' using errcode = 'PM001';
  end if;
  insert into shard_moving_jobs (bucket, job_id) values (job_bucket, new.id) on conflict do nothing;
  return null;
end $$;
