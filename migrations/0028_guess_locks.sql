-- What operators see of locks by guesses: since when, and of which users. And when a refusal was last recorded.

alter table guess_budgets
  -- Whether the row is of a user, and not of an identity that names nobody. Written with each failure, for both alike.
  add column is_user    boolean not null default false,
  -- When the lock that `locked_until` or `permanent` tells began.
  add column locked_at  timestamptz,
  -- When a login that the lock refused was last recorded as an event.
  add column refused_at timestamptz;

-- A budget after `count` more failures.
create or replace function guess_failed(
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

-- Takes one of the remaining guesses before anything is evaluated. Outcomes: 'taken'; 'locked' and 'permanent', when
-- nothing may be evaluated; 'busy', when every remaining guess is being evaluated by somebody right now.
-- One statement of the caller, so the row is locked for no longer than this takes.
create or replace function take_guess(
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
  -- Mostly nothing has failed and nobody else is being evaluated: then there is no row, and a new one says it all. Whoever
  -- held an older one may have deleted it before it is locked here: then one is made after all.
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
  -- Read under the lock: whoever held it before may have locked the account later than this statement began.
  now := db_now();

  -- The clock stepped back since the row was written: its times go with it, or a lock would last for the step too.
  stepped := greatest(budget.updated_at - now, interval '0');
  if stepped > interval '0' then
    budget.locked_at := budget.locked_at - stepped;
    budget.locked_until := budget.locked_until - stepped;
    budget.refused_at := budget.refused_at - stepped;
    budget.slots_taken_at := array(select t - stepped from unnest(budget.slots_taken_at) with ordinality u(t, at) order by at);
    budget.updated_at := now;
  end if;

  -- A guess that nobody settled in 15 seconds was a process's that died: it counts as wrong.
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

-- Gives a guess back with what came of it: 'right' clears the bucket, 'wrong' counts, 'none' was not evaluated after all.
-- A guess that was given up for dead was counted already; a right one clears the bucket all the same.
-- Returns whether this is the failure that locked the account.
create or replace function settle_guess(
  for_user uuid, from_bucket uuid, slot uuid, result text,
  guess_limit integer, permanent_limit integer, lock_seconds float8, lock_max_seconds float8
) returns boolean language plpgsql as $$
declare
  budget guess_budgets;
  place integer;
  locks_before integer;
  permanent_before boolean;
begin
  -- A right guess beside which none is being evaluated leaves nothing, whatever has failed before it.
  if result = 'right' then
    delete from guess_budgets b
      where b.user_id = for_user and b.bucket = from_bucket and b.slots = array[slot] and not b.permanent;
    if found then
      return false;
    end if;
  end if;

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
