-- Operation: audit events, repeated requests, maintenance, statistics, backups, and secret keys.

-- ---------------------------------------------------------------------------------------------------------------------
-- Audit events
-- ---------------------------------------------------------------------------------------------------------------------

-- What happened: the activity of users, and the audit trail of operators. Never contains a secret. Events that concern no
-- user have the id of all zeros.
create table events (
  user_id    uuid not null,
  id         uuid not null,
  type       text not null,
  actor      text not null,
  address    inet,
  request_id text,
  data       jsonb not null default '{}',
  created_at timestamptz not null,
  primary key (user_id, id)
);
create index events_by_user on events (user_id, created_at);
create index events_by_created_at on events (created_at, id);

-- The last audit events by the transaction that wrote them, for streams of events. Transactions do not commit in the order
-- of their numbers or of the times of their events: a stream that continued after the newest event would miss one that
-- commits later. A stream reads the events of the transactions that its last snapshot could not see.
-- A maintenance task deletes rows after some minutes. event_feed_state says which may be gone.
-- Both tables are unlogged: they are empty after a crash, because PostgreSQL then assigns numbers of transactions again that
-- it had not written to disk.
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

-- One row.
create unlogged table event_feed_state (
  -- Rows of transactions before this one may be gone.
  floor      xid8 not null,
  -- The next value of `floor`.
  next_floor xid8 not null,
  -- Changes when the numbers of transactions mean other transactions, or when rows may be missing. Positions of other runs
  -- are unknown.
  run        uuid not null default gen_random_uuid(),
  -- The transaction that wrote this row. In a row that was restored from a dump it does not match, so the row is invalid.
  written_by xid8 not null default pg_current_xact_id(),
  only_one   boolean primary key default true check (only_one)
);
insert into event_feed_state (floor, next_floor)
  select now.xmin, now.xmin from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) now;

-- Records new audit events for streams and, if there is an endpoint, for webhooks. For a login to an identity that belongs
-- to nobody, there is no user to tell about.
create function feed_events() returns trigger language plpgsql as $$
begin
  insert into event_feed (created_at, user_id, id) select created_at, user_id, id from added;
  if exists (select from webhook_endpoints) then
    insert into webhook_outbox (created_at, type, actor, user_ids, data)
    select created_at, type, actor, array[user_id], data from added
    where type = any (array['user.created', 'user.changed', 'user.deleted', 'user.locked', 'user.unlocked', 'user.deactivated',
                            'user.reactivated', 'user.password_changed', 'user.pin_changed', 'identity.verified', 'login.approved',
                            'device.removed', 'totp.enrolled', 'totp.removed', 'passkey.enrolled', 'passkey.removed',
                            'recovery_codes.made', 'second_factors.removed', 'external_identity.linked',
                            'external_identity.unlinked', 'recovery.completed', 'registration.completed', 'message.failed',
                            'message.expired', 'message.undelivered'])
      or (type = any (array['login.rejected', 'login.refused_locked', 'account.locked_by_guesses'])
          and exists (select from users u where u.id = added.user_id));
  end if;
  return null;
end $$;

-- For each statement, because an import inserts many events at once.
create trigger event_feed_of_events after insert on events referencing new table as added
  for each statement execute function feed_events();
-- Also for rows that are replicated into the table, and with session_replication_role = replica.
alter table events enable always trigger event_feed_of_events;

-- Hash chains over the audit events, so that `postern audit verify` finds a removed, added or changed row. A maintenance task
-- writes them after the end of each day in UTC. Statements that record events do nothing for them.
create table audit_days (
  day       date primary key,
  -- The day is complete when all transactions before this one have ended.
  closing   xid8 not null,
  events    bigint not null default 0,
  -- The hash of the last part. Null until the chain of the day is complete. It stays when the events are deleted.
  hash      bytea,
  sealed_at timestamptz
);

-- The events of a day in the order of (created_at, id), some thousand in each part.
create table audit_parts (
  day     date not null,
  part    integer not null,
  last_at timestamptz not null,
  last_id uuid not null,
  -- For each event 48 bytes: its id, and the first 16 bytes of two digests.
  leaves  bytea not null,
  -- SHA-256 of the hash before it and the leaves.
  hash    bytea not null,
  primary key (day, part)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Requests, maintenance, statistics
-- ---------------------------------------------------------------------------------------------------------------------

-- Answers to requests with an Idempotency-Key, for a day. The row is committed first, with a lease, so that parallel
-- repeats see it. The answer is committed together with the work of the request.
create table idempotency_keys (
  caller        text not null,
  key_digest    bytea not null,
  -- A digest that shows whether it is the same request.
  request       bytea not null,
  lease_ends_at timestamptz not null,
  status        smallint,
  headers       jsonb,
  -- Encrypted, because the answer to a new API key contains the key.
  sealed_body   bytea,
  created_at    timestamptz not null,
  primary key (caller, key_digest)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index idempotency_keys_by_created_at on idempotency_keys (created_at);

-- The progress of each maintenance task. Tasks run in small steps, on one instance at a time: the one that locks the row.
create table chores (
  name     text primary key,
  -- Where the next step continues. Null: at the start.
  position jsonb,
  due_at   timestamptz not null
) with (fillfactor = 50);

-- The processes that serve this database, one row each, from start to stop. A process writes the number of its last write of
-- statistics together with the sums, so that a repeated write adds nothing.
create table instances (
  id          uuid primary key,
  host        text not null,
  process_id  integer not null,
  -- The number of the worker. Null for a single process.
  worker      integer,
  version     text not null,
  node        text not null,
  -- Open notification streams.
  streams     integer not null,
  flushes     bigint not null,
  started_at  timestamptz not null,
  seen_at     timestamptz not null
) with (fillfactor = 50);

-- Sums of all processes for each minute, hour and day (UTC). The key also finds the oldest rows.
create table statistics (
  resolution  text not null check (resolution in ('minute', 'hour', 'day')),
  starts_at   timestamptz not null,
  metric      text not null,
  label       text not null,
  value       double precision not null,
  primary key (resolution, starts_at, metric, label)
) with (fillfactor = 70);

-- ---------------------------------------------------------------------------------------------------------------------
-- Backups and keys
-- ---------------------------------------------------------------------------------------------------------------------

-- The backups of this database. A row is written before the end of its backup, so that the backup contains it: a restored
-- copy without the row is not complete.
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
  error        text,
  -- The log archive that continues it. Null: none does.
  archive      text,
  -- When it was deleted because newer ones replaced it.
  removed_at   timestamptz
);
create index backups_by_start on backups (started_at);

-- The state of the archive of the write-ahead log. One row.
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

-- When each secret key became the current one. Digests do not name their key: those that are newer than the current key
-- were made with it. The id of a key does not reveal it.
create table secret_keys (
  id            text primary key,
  current_since timestamptz not null
);
