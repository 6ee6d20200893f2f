-- Limits: wrong secrets, requests, messages, and blocked addresses.

-- ---------------------------------------------------------------------------------------------------------------------
-- Guesses
-- ---------------------------------------------------------------------------------------------------------------------

-- How many wrong secrets an account allows. An account has one row for each known device and one for all other devices.
-- An identity that belongs to nobody has the row of all other devices, under its derived id. No row: nothing has failed,
-- and nothing is being verified.
create table guess_budgets (
  user_id        uuid not null,
  -- The id of a device on which a login of the user was approved before. The id of all zeros: all other devices together.
  -- Codes of recoveries and registrations have reserved and derived ids, so that a lock of logins does not lock them.
  bucket         uuid not null,
  -- Failures in a row since the last lock. Failures since the last success. Locks since the last success.
  failures       integer not null default 0,
  total_failures integer not null default 0,
  locks          integer not null default 0,
  locked_until   timestamptz,
  permanent      boolean not null default false,
  -- The guesses that are being verified now: their ids, and when each was taken.
  slots          uuid[] not null default '{}',
  slots_taken_at timestamptz[] not null default '{}',
  updated_at     timestamptz not null,
  -- Whether the row belongs to a user. Each failure writes it, also for an identity that belongs to nobody.
  is_user        boolean not null default false,
  -- When the lock of `locked_until` or `permanent` began.
  locked_at      timestamptz,
  -- When a login that the lock refused was last recorded as an audit event.
  refused_at     timestamptz,
  primary key (user_id, bucket)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index guess_budgets_by_updated_at on guess_budgets (updated_at) where not permanent;
-- Finds the users that are locked now, however many users and locked identities that belong to nobody there are.
create index guess_budgets_by_lock_end on guess_budgets
  (is_user, (case when permanent then 'infinity' else locked_until end)) where permanent or locked_until is not null;

-- A budget after `count` more failures. The limits of this and the next two functions: failures in a row until a lock,
-- failures since the last success until a permanent lock (0: never), the seconds of the first and of the longest lock.
create function guess_failed(
  budget guess_budgets, count integer, now timestamptz,
  guess_limit integer, permanent_limit integer, lock_seconds float8, lock_max_seconds float8
) returns guess_budgets language plpgsql immutable as $$
begin
  for i in 1..count loop
    budget.failures := budget.failures + 1;
    budget.total_failures := budget.total_failures + 1;
    if budget.failures >= guess_limit then
      budget.failures := 0;
      -- Each further lock takes twice as long, up to the longest lock. The exponent has a limit so that it cannot overflow.
      budget.locked_until := now + make_interval(secs => least(lock_max_seconds, lock_seconds * 2 ^ least(budget.locks, 40)));
      budget.locks := budget.locks + 1;
      budget.locked_at := now;
    end if;
  end loop;
  if permanent_limit > 0 and budget.total_failures >= permanent_limit and not budget.permanent then
    budget.permanent := true;
    budget.locked_at := now;
  end if;
  budget.updated_at := now;
  return budget;
end $$;

-- Takes one of the remaining guesses before a secret is verified. So parallel requests cannot verify more wrong secrets
-- than there are guesses left. Outcomes: 'taken'; 'locked' or 'permanent', and no secret may be verified; 'busy' if all
-- remaining guesses are being verified now.
-- The caller runs it in a statement of its own, so the row is locked only for as long as this takes.
create function take_guess(
  for_user uuid, from_bucket uuid, new_slot uuid,
  guess_limit integer, permanent_limit integer, lock_seconds float8, lock_max_seconds float8,
  out outcome text, out retry_after float8
) language plpgsql as $$
declare
  budget guess_budgets;
  now timestamptz;
  stepped interval;
  dead integer;
begin
  -- Usually nothing has failed and no other guess is being verified. Then there is no row, and a new row takes the guess.
  -- If the insert waits until another transaction has deleted the row, the time is from before the wait, which the lock
  -- timeout limits to two seconds. If a row exists but is deleted before it is locked here, the loop inserts one after all.
  loop
    now := db_now();
    insert into guess_budgets (user_id, bucket, slots, slots_taken_at, updated_at)
      values (for_user, from_bucket, array[new_slot], array[now], now) on conflict do nothing;
    if found then
      outcome := 'taken';
      return;
    end if;
    select * into budget from guess_budgets b where b.user_id = for_user and b.bucket = from_bucket for update;
    exit when found;
  end loop;
  -- Read under the lock: another transaction may have locked the account after this statement began.
  now := db_now();

  -- The clock was set back since the row was written. The times in the row move too, or a lock would last longer.
  stepped := greatest(budget.updated_at - now, interval '0');
  if stepped > interval '0' then
    budget.locked_at := budget.locked_at - stepped;
    budget.locked_until := budget.locked_until - stepped;
    budget.refused_at := budget.refused_at - stepped;
    budget.slots_taken_at := array(select t - stepped from unnest(budget.slots_taken_at) with ordinality u(t, at) order by at);
    budget.updated_at := now;
  end if;

  -- A guess that is not settled after 15 seconds belongs to a process that died: it counts as wrong.
  select count(*) into dead from unnest(budget.slots_taken_at) t where t <= now - interval '15 seconds';
  if dead > 0 then
    select coalesce(array_agg(s), '{}'), coalesce(array_agg(t), '{}') into budget.slots, budget.slots_taken_at
      from unnest(budget.slots, budget.slots_taken_at) as live(s, t) where t > now - interval '15 seconds';
    budget := guess_failed(budget, dead, now, guess_limit, permanent_limit, lock_seconds, lock_max_seconds);
    budget.is_user := exists (select 1 from users u where u.id = for_user);
  end if;

  if budget.permanent then
    outcome := 'permanent';
  elsif budget.locked_until > now then
    outcome := 'locked';
    retry_after := extract(epoch from budget.locked_until - now);
  elsif budget.failures + cardinality(budget.slots) >= guess_limit then
    outcome := 'busy';
  else
    outcome := 'taken';
    budget.slots := budget.slots || new_slot;
    budget.slots_taken_at := budget.slots_taken_at || now;
    budget.updated_at := now;
  end if;

  if outcome = 'taken' or dead > 0 or stepped > interval '0' then
    update guess_budgets b
    set failures = budget.failures, total_failures = budget.total_failures, locks = budget.locks,
        locked_until = budget.locked_until, permanent = budget.permanent, slots = budget.slots,
        slots_taken_at = budget.slots_taken_at, updated_at = budget.updated_at,
        is_user = budget.is_user, locked_at = budget.locked_at, refused_at = budget.refused_at
    where b.user_id = for_user and b.bucket = from_bucket;
  end if;
end $$;

-- Settles a guess with its result: 'right' clears the row, 'wrong' counts, and 'none' does neither: nothing was verified,
-- or a second secret is still needed. A guess that was too late already counts as wrong. If it is right, it still clears
-- the row. A permanent lock stays.
-- Returns whether this failure has locked the account.
create function settle_guess(
  for_user uuid, from_bucket uuid, slot uuid, result text,
  guess_limit integer, permanent_limit integer, lock_seconds float8, lock_max_seconds float8
) returns boolean language plpgsql as $$
declare
  budget guess_budgets;
  place integer;
  locks_before integer;
  permanent_before boolean;
begin
  -- If no other guess is being verified, a right guess deletes the row, whatever has failed before.
  if result = 'right' then
    delete from guess_budgets b
      where b.user_id = for_user and b.bucket = from_bucket and b.slots = array[slot] and not b.permanent;
    if found then
      return false;
    end if;
  end if;

  select * into budget from guess_budgets b where b.user_id = for_user and b.bucket = from_bucket for update;
  if not found then
    return false; -- An operator has unlocked the account meanwhile.
  end if;
  locks_before := budget.locks;
  permanent_before := budget.permanent;
  place := array_position(budget.slots, slot);
  if place is not null then
    budget.slots := budget.slots[:place - 1] || budget.slots[place + 1:];
    budget.slots_taken_at := budget.slots_taken_at[:place - 1] || budget.slots_taken_at[place + 1:];
  end if;
  if result = 'right' and not budget.permanent then
    budget.failures := 0;
    budget.total_failures := 0;
    budget.locks := 0;
    budget.locked_at := null;
    budget.locked_until := null;
    budget.updated_at := db_now();
  elsif result = 'wrong' and place is not null then
    budget := guess_failed(budget, 1, db_now(), guess_limit, permanent_limit, lock_seconds, lock_max_seconds);
    budget.is_user := exists (select 1 from users u where u.id = for_user);
  end if;

  if budget.total_failures = 0 and not budget.permanent and cardinality(budget.slots) = 0 then
    delete from guess_budgets b where b.user_id = for_user and b.bucket = from_bucket;
  else
    update guess_budgets b
    set failures = budget.failures, total_failures = budget.total_failures, locks = budget.locks,
        locked_until = budget.locked_until, permanent = budget.permanent, slots = budget.slots,
        slots_taken_at = budget.slots_taken_at, updated_at = budget.updated_at,
        is_user = budget.is_user, locked_at = budget.locked_at
    where b.user_id = for_user and b.bucket = from_bucket;
  end if;
  return budget.locks > locks_before or (budget.permanent and not permanent_before);
end $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Requests
-- ---------------------------------------------------------------------------------------------------------------------

-- Limits of logins and codes, as one time for each key: the generic cell rate algorithm. The key is a digest of what is
-- limited, such as an address or an account. All instances share the limits.
create table request_limits (
  key          bytea primary key,
  -- When all requests of the window are available again.
  refilled_at  timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index request_limits_by_refilled_at on request_limits (refilled_at);

-- Takes one of `size` requests in `window_seconds`. Returns null if it was taken, else the seconds until the next one.
-- A budget refills within its window. If it would take longer, the clock was set back since. Then the request is taken, and
-- the budget is empty. The additional second is for small corrections of the clock.
create function take_request(limit_key bytea, size integer, window_seconds float8) returns float8 language plpgsql as $$
declare
  step interval := make_interval(secs => window_seconds / size);
  room interval := make_interval(secs => window_seconds);
  refilled timestamptz;
  now timestamptz;
begin
  insert into request_limits as l (key, refilled_at) values (limit_key, db_now() + step)
    on conflict (key) do update set refilled_at = least(greatest(l.refilled_at, db_now()) + step, db_now() + room)
      where greatest(l.refilled_at, db_now()) + step <= db_now() + room
         or l.refilled_at > db_now() + room + interval '1 second'
    returning l.refilled_at into refilled;
  if refilled is not null then
    return null;
  end if;
  select l.refilled_at into refilled from request_limits l where l.key = limit_key;
  now := db_now();
  return greatest(0.001, extract(epoch from refilled + step - room - now));
end $$;

-- Counts a code that a client's network requests. Returns how many it has requested recently, at most 1000. The number
-- falls by one each minute. It refuses nothing: it is the priority with which the code is sent. As in take_request, the
-- stored time is the one at which the number is zero again.
create function take_turn(turn_key bytea) returns smallint language plpgsql as $$
declare
  pace interval := interval '1 minute';
  most integer := 1000;
  forgotten_at timestamptz;
begin
  insert into request_limits as l (key, refilled_at) values (turn_key, db_now() + pace)
    on conflict (key) do update
      set refilled_at = least(greatest(l.refilled_at, db_now()) + pace, db_now() + most * pace)
    returning l.refilled_at into forgotten_at;
  return least(most, ceil(extract(epoch from forgotten_at - db_now()) / extract(epoch from pace)));
end $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Messages
-- ---------------------------------------------------------------------------------------------------------------------

-- When codes were sent to an identity or a recipient: the last ten times, the newest first.
create table message_limits (
  key        bytea primary key,
  sent_at    timestamptz[] not null,
  updated_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index message_limits_by_updated_at on message_limits (updated_at);

-- Takes one message: one a minute, five an hour, ten a day. `wait` is null if it was taken, else the seconds to wait.
-- `free_at` is when the next message may be requested.
create function take_message_slot(limit_key bytea, out wait float8, out free_at timestamptz) language plpgsql as $$
declare
  sent timestamptz[];
  written timestamptz;
  now timestamptz;
begin
  loop
    insert into message_limits (key, sent_at, updated_at) values (limit_key, '{}', db_now()) on conflict do nothing;
    select m.sent_at, m.updated_at into sent, written from message_limits m where m.key = limit_key for update;
    exit when found;
  end loop;
  now := db_now();
  -- The clock was set back since the row was written. The times in the row move too, or the limits would last longer.
  if written > now then
    sent := array(select t - (written - now) from unnest(sent) with ordinality u(t, at) order by at);
    update message_limits m set sent_at = sent, updated_at = now where m.key = limit_key;
  end if;
  -- A window of n messages is full while it contains the nth newest one.
  free_at := greatest(sent[1] + interval '1 minute', sent[5] + interval '1 hour', sent[10] + interval '1 day');
  if free_at > now then
    wait := extract(epoch from free_at - now);
    return;
  end if;
  sent := (array_prepend(now, sent))[1:10];
  update message_limits m set sent_at = sent, updated_at = now where m.key = limit_key;
  free_at := greatest(sent[1] + interval '1 minute', sent[5] + interval '1 hour', sent[10] + interval '1 day');
end $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Blocked addresses
-- ---------------------------------------------------------------------------------------------------------------------

-- The networks whose requests operators refuse.
create table address_blocks (
  id         uuid primary key,
  network    cidr not null unique,
  reason     text,
  -- Null: until an operator ends it.
  ends_at    timestamptz,
  created_by text not null,
  created_at timestamptz not null
);
create index address_blocks_by_created_at on address_blocks (created_at, id);
create index address_blocks_by_end on address_blocks (ends_at) where ends_at is not null;

-- Each process keeps the blocks in memory, and reads them again when this number has changed: the number of the last
-- transaction that changed a block. One row.
create table address_blocks_version (
  only_one boolean primary key default true check (only_one),
  version  bigint not null
);
insert into address_blocks_version (version) values (0);

create function note_address_blocks() returns trigger language plpgsql as $$
begin
  update address_blocks_version set version = pg_current_xact_id()::text::bigint
  where version <> pg_current_xact_id()::text::bigint;
  return null;
end $$;

-- For each row, because the maintenance task that removes old blocks usually removes none.
create trigger address_blocks_changed after insert or update or delete on address_blocks
  for each row execute function note_address_blocks();
create trigger address_blocks_emptied after truncate on address_blocks
  for each statement execute function note_address_blocks();
