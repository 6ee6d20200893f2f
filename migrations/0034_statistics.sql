-- The processes that serve this database, and the sums that they count.

-- One row for each process, from its start to its stop. Its last flush of counts is stored with the counts, so that a
-- repeated flush adds nothing.
create table instances (
  id          uuid primary key,
  host        text not null,
  process_id  integer not null,
  -- The number of the worker; null for a single process.
  worker      integer,
  version     text not null,
  node        text not null,
  -- Open notification streams.
  streams     integer not null,
  flushes     bigint not null,
  started_at  timestamptz not null,
  seen_at     timestamptz not null
) with (fillfactor = 50);

-- Sums of all processes for each minute, hour and day (UTC). The oldest rows are found by the key.
create table statistics (
  resolution  text not null check (resolution in ('minute', 'hour', 'day')),
  starts_at   timestamptz not null,
  metric      text not null,
  label       text not null,
  value       double precision not null,
  primary key (resolution, starts_at, metric, label)
) with (fillfactor = 70);
