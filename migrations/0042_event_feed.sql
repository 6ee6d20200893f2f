-- The last audit events by the transaction that wrote them, for streams of events. Transactions do not commit in the order
-- of their numbers, and the times of events have the same problem: a stream that continued after the newest event would
-- miss one that commits later. A stream reads the transactions that its last snapshot could not see.
-- A maintenance task deletes rows after some minutes; `event_feed_state` says which may be gone. Both tables are unlogged:
-- after a crash they are empty, because transaction numbers that never reached the log are then assigned again.
create unlogged table event_feed (
  transaction xid8 not null default pg_current_xact_id(),
  created_at  timestamptz not null,
  user_id     uuid not null,
  id          uuid not null,
  primary key (transaction, created_at, id)
)
-- Small, and all of it is new every few minutes.
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
      autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0);

create unlogged table event_feed_state (
  -- Rows of transactions before this one may be gone.
  floor      xid8 not null,
  -- The next value of `floor`.
  next_floor xid8 not null,
  -- The time from one loss of rows to the next. Positions of other runs are unknown.
  run        uuid not null default gen_random_uuid(),
  -- The transaction that wrote this row. In a row that was restored from a dump it does not match, so the row is invalid.
  written_by xid8 not null default pg_current_xact_id(),
  only_one   boolean primary key default true check (only_one)
);
insert into event_feed_state (floor, next_floor)
  select now.xmin, now.xmin from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) now;

create function feed_events() returns trigger language plpgsql as $$
begin
  insert into event_feed (created_at, user_id, id) select created_at, user_id, id from added;
  return null;
end $$;

-- For each statement, so that an import pays once for all its events.
create trigger event_feed_of_events after insert on events referencing new table as added
  for each statement execute function feed_events();
-- Also for rows that are replicated into the table, and with session_replication_role = replica.
alter table events enable always trigger event_feed_of_events;
