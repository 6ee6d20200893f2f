-- Users spread over several PostgreSQL servers. Without SHARDS these tables stay as they are here. Every server has them.

create table shard_map (
  only_one     boolean primary key default true check (only_one),
  -- In the directory: the version of the map. On every server: a connection of a process with an older map is refused.
  version      bigint not null default 0,
  -- Which server of which installation this is. Null: users are not spread.
  installation uuid,
  name         text
);
insert into shard_map default values;

-- In the directory only: the servers, and the buckets of users that are not on the server `main`.
create table shards (
  name     text primary key,
  added_at timestamptz not null default clock_timestamp()
);
create table shard_buckets (
  bucket smallint primary key check (bucket between 0 and 4095),
  shard  text not null references shards
);

-- The outcomes of transactions over several servers, on the server that decided each. A prepared transaction without an
-- outcome is rolled back: recovery then adds the outcome "not committed", and the primary key refuses a late decision.
create table transaction_outcomes (
  id           uuid primary key,
  is_committed boolean not null,
  created_at   timestamptz not null default clock_timestamp()
);

-- The bucket of a user: the first 12 bits of the SHA-256 of the id's bytes. `bucketOf` computes the same.
create function user_bucket(id uuid) returns smallint language sql immutable strict parallel safe
  return ((get_byte(sha256(uuid_send(id)), 0) << 4) | (get_byte(sha256(uuid_send(id)), 1) >> 4))::smallint;
