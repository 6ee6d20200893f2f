-- Hash chains over the audit events, so that `postern audit verify` finds a removed, added or changed row. A maintenance task
-- writes them after the end of each day in UTC: the statements that record events do nothing for them and share no lock.
create table audit_days (
  day       date primary key,
  -- Every transaction before this one must have ended before the day is sealed.
  closing   xid8 not null,
  events    bigint not null default 0,
  -- The hash of the last part. Null until the day is sealed. It stays when the events are deleted.
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
