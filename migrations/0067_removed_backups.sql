-- When the backup was deleted because newer ones replaced it.
alter table backups add column removed_at timestamptz;
