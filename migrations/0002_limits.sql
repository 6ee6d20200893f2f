-- Guess budgets: how many wrong secrets an account bears. One row per account and kind of device; an identity that
-- names nobody has a row of the same shape under its stand-in id.

create table guess_budgets (
  user_id        uuid not null,
  -- The id of a device that the user was approved on before; the nil UUID for all other devices together.
  bucket         uuid not null,
  -- Failures in a row since the last lock; since the last success; and how many locks there were since then.
  failures       integer not null default 0,
  total_failures integer not null default 0,
  locks          integer not null default 0,
  locked_until   timestamptz,
  permanent      boolean not null default false,
  -- Guesses that are being evaluated right now: one entry each, when it was taken.
  slots          uuid[] not null default '{}',
  slots_taken_at timestamptz[] not null default '{}',
  updated_at     timestamptz not null,
  primary key (user_id, bucket)
);
create index guess_budgets_by_updated_at on guess_budgets (updated_at) where not permanent;

-- A budget after `count` more failures.
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
      -- Doubled with each further lock. The exponent is bounded before it can overflow, the result by the longest lock.
      budget.locked_until := now + make_interval(secs => least(lock_max_seconds, lock_seconds * 2 ^ least(budget.locks, 40)));
      budget.locks := budget.locks + 1;
    end if;
  end loop;
  if permanent_limit > 0 and budget.total_failures >= permanent_limit then
    budget.permanent := true;
  end if;
  budget.updated_at := now;
  return budget;
end $$;

-- Takes one of the remaining guesses before anything is evaluated. Outcomes: 'taken'; 'locked' and 'permanent', when
-- nothing may be evaluated; 'busy', when every remaining guess is being evaluated by somebody right now.
-- One statement of the caller, so the row is locked for no longer than this takes.
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
  -- Whoever held the row may have deleted it: then it is made again, or the guess would be counted nowhere.
  loop
    insert into guess_budgets (user_id, bucket, updated_at) values (for_user, from_bucket, db_now())
      on conflict do nothing;
    select * into budget from guess_budgets b where b.user_id = for_user and b.bucket = from_bucket for update;
    exit when found;
  end loop;
  -- Read under the lock: whoever held it before may have locked the account later than this statement began.
  now := db_now();

  -- The clock stepped back since the row was written: its times go with it, or a lock would last for the step too.
  stepped := greatest(budget.updated_at - now, interval '0');
  if stepped > interval '0' then
    budget.locked_until := budget.locked_until - stepped;
    budget.slots_taken_at := array(select t - stepped from unnest(budget.slots_taken_at) with ordinality u(t, at) order by at);
    budget.updated_at := now;
  end if;

  -- A guess that nobody settled in 15 seconds was a process's that died: it counts as wrong.
  select count(*) into dead from unnest(budget.slots_taken_at) t where t <= now - interval '15 seconds';
  if dead > 0 then
    select coalesce(array_agg(s), '{}'), coalesce(array_agg(t), '{}') into budget.slots, budget.slots_taken_at
      from unnest(budget.slots, budget.slots_taken_at) as live(s, t) where t > now - interval '15 seconds';
    budget := guess_failed(budget, dead, now, guess_limit, permanent_limit, lock_seconds, lock_max_seconds);
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
        slots_taken_at = budget.slots_taken_at, updated_at = budget.updated_at
    where b.user_id = for_user and b.bucket = from_bucket;
  end if;
end $$;

-- Gives a guess back with what came of it: 'right' clears the bucket, 'wrong' counts, 'none' was not evaluated after all.
-- A guess that was given up for dead was counted already; a right one clears the bucket all the same.
-- Returns whether this is the failure that locked the account.
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
  select * into budget from guess_budgets b where b.user_id = for_user and b.bucket = from_bucket for update;
  if not found then
    return false; -- An operator cleared the account meanwhile.
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
    budget.locked_until := null;
    budget.updated_at := db_now();
  elsif result = 'wrong' and place is not null then
    budget := guess_failed(budget, 1, db_now(), guess_limit, permanent_limit, lock_seconds, lock_max_seconds);
  end if;

  if budget.total_failures = 0 and not budget.permanent and cardinality(budget.slots) = 0 then
    delete from guess_budgets b where b.user_id = for_user and b.bucket = from_bucket;
  else
    update guess_budgets b
    set failures = budget.failures, total_failures = budget.total_failures, locks = budget.locks,
        locked_until = budget.locked_until, permanent = budget.permanent, slots = budget.slots,
        slots_taken_at = budget.slots_taken_at, updated_at = budget.updated_at
    where b.user_id = for_user and b.bucket = from_bucket;
  end if;
  return budget.locks > locks_before or (budget.permanent and not permanent_before);
end $$;

-- Request limits: the generic cell rate algorithm, one time per key. A key is a digest of what is limited.
create table request_limits (
  key          bytea primary key,
  -- When the budget of this key is full again.
  refilled_at  timestamptz not null
);
create index request_limits_by_refilled_at on request_limits (refilled_at);

-- Takes one of `size` requests per `window_seconds`. Returns null when it was taken, else the seconds until the next.
-- A budget is full again within its window. One that would take longer is from before the clock stepped back: then the
-- request is taken, and the budget is used up. A second more, since clocks are also slewed.
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

-- Message limits: the times of the last sendings of a key, the newest ten, which is all that the limits look back on.
create table message_limits (
  key        bytea primary key,
  sent_at    timestamptz[] not null,
  updated_at timestamptz not null
);
create index message_limits_by_updated_at on message_limits (updated_at);

-- Takes one message: one a minute, five an hour, ten a day. Returns null when it was taken, else the seconds to wait.
create function take_message(limit_key bytea) returns float8 language plpgsql as $$
declare
  sent timestamptz[];
  written timestamptz;
  now timestamptz;
  free_at timestamptz;
begin
  loop
    insert into message_limits (key, sent_at, updated_at) values (limit_key, '{}', db_now()) on conflict do nothing;
    select m.sent_at, m.updated_at into sent, written from message_limits m where m.key = limit_key for update;
    exit when found;
  end loop;
  now := db_now();
  -- The clock stepped back since: the times go with it, or the limits would last for the step too.
  if written > now then
    sent := array(select t - (written - now) from unnest(sent) with ordinality u(t, at) order by at);
    update message_limits m set sent_at = sent, updated_at = now where m.key = limit_key;
  end if;
  -- Newest first. A window is full when its nth newest sending lies inside it.
  free_at := greatest(sent[1] + interval '1 minute', sent[5] + interval '1 hour', sent[10] + interval '1 day');
  if free_at > now then
    return extract(epoch from free_at - now);
  end if;
  update message_limits m set sent_at = (array_prepend(now, sent))[1:10], updated_at = now where m.key = limit_key;
  return null;
end $$;
