-- What runs in the background in small steps, on one instance at a time: how far it came and when it is due again.
create table chores (
  name     text primary key,
  -- Where the next step goes on; null: from the start.
  position jsonb,
  due_at   timestamptz not null
) with (fillfactor = 50);

-- Rows that come and go or are written over all the time. By default a table is vacuumed when a fifth of it is dead,
-- which for a large one is long after its dead rows have begun to cost; and room on the page keeps an update of
-- columns without an index from writing the indexes.
alter table inboxes set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table inbox_blocks set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table sessions set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table guess_budgets set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table request_limits set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table message_limits set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table authentications set (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
alter table outbox set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
alter table idempotency_keys set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
alter table notifications set (autovacuum_vacuum_scale_factor = 0.05);
alter table notification_tombstones set (autovacuum_vacuum_scale_factor = 0.05);
