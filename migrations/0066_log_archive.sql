-- The log archive that continues each backup. Null: none does.
alter table backups add column archive text;

-- The state of the archive of the write-ahead log, in one row.
create table backup_archive (
  id          boolean primary key default true check (id),
  archive     text not null,
  location    text not null,
  started_at  timestamptz not null,
  -- Everything that was committed before this time is in the archive.
  archived_at timestamptz not null,
  -- Why it does not continue, for operators.
  error       text
);
