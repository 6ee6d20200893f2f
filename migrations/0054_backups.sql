-- The backups of this database. A row is written before the end of its backup, so that the backup contains the row: a
-- restored copy without it is not complete.
create table backups (
  id           uuid primary key,
  started_at   timestamptz not null,
  -- Null: it is running, or it was interrupted.
  finished_at  timestamptz,
  -- When a restored copy passed all checks.
  verified_at  timestamptz,
  is_scheduled boolean not null,
  -- Where the backup was written.
  location     text not null,
  bytes        bigint,
  -- Why it failed, for operators.
  error        text
);
create index backups_by_start on backups (started_at);
