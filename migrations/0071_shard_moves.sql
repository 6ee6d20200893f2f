-- How `postern shards move` moves buckets of users. Without SHARDS these tables stay empty, and no table has the trigger.

-- In the directory: the buckets that are being moved. Instances look for a new map more often while there are any.
create table shard_moves (
  bucket     smallint primary key check (bucket between 0 and 4095),
  source     text not null references shards,
  target     text not null references shards,
  started_at timestamptz not null default clock_timestamp()
);

-- On the two servers of a move. While `is_stopped`, the trigger refuses to change rows of the bucket there.
create table shard_moving (
  bucket     smallint primary key,
  is_stopped boolean not null
);

-- On the server that a bucket leaves: its users, and those whose rows have changed since they were copied.
create table shard_moving_users (
  bucket  smallint not null,
  user_id uuid not null,
  primary key (bucket, user_id)
);
create table shard_changes (
  bucket  smallint not null,
  user_id uuid not null
);
create index shard_changes_by_bucket on shard_changes (bucket);

-- What the machinery of a server works on at once, such as jobs: taken out on the former server before the other one has it.
create table shard_luggage (
  bucket smallint not null,
  kind   text not null,
  row    text not null
);
create index shard_luggage_by_bucket on shard_luggage (bucket);

-- The trigger of each table with rows of users, during a move. Writers of a bucket share a lock, which prepared transactions
-- keep. The mover takes it alone, so it waits for them, and those that come later wait for the mover.
create function guard_moving_user() returns trigger language plpgsql as $$
declare
  changed uuid;
  changed_bucket smallint;
begin
  if current_setting('postern.moves', true) = 'on' then return null; end if;
  if tg_argv[0] = 'id' then
    if tg_op = 'DELETE' then changed := old.id; else changed := new.id; end if;
  elsif tg_op = 'DELETE' then
    changed := old.user_id;
  else
    changed := new.user_id;
  end if;
  changed_bucket := user_bucket(changed);
  if not exists (select from shard_moving where bucket = changed_bucket) then return null; end if;
  perform pg_advisory_xact_lock_shared(7203415, changed_bucket);
  if exists (select from shard_moving where bucket = changed_bucket and is_stopped) then
    raise exception 'the user is being moved to another server, or has been' using errcode = 'PM001';
  end if;
  insert into shard_changes (bucket, user_id) values (changed_bucket, changed);
  return null;
end $$;
