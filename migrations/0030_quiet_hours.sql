-- Quiet hours: while they last, pushes, mails and SMS of a user are held, and decided about again when they end. The former release
-- goes on working beside this one: it does not hold, and leaves alone what is held.

-- {"from": "22:00", "until": "07:00", "days": ["mon", …]}; without days: each day. Wall clock in `time_zone`.
alter table preferences add column quiet_hours jsonb;

-- The users for whom deliveries are held, and when these are decided about again. A change of the quiet hours or of the zone
-- sets the time to the end by the new choices.
create table quiet_holds (
  user_id    uuid primary key,
  held_until timestamptz not null
);
create index quiet_holds_by_held_until on quiet_holds (held_until);

-- Not valid: they accept more than the former ones, so no row has to be read.
alter table push_deliveries
  drop constraint push_deliveries_state_check,
  add constraint push_deliveries_state_check
    check (state in ('held', 'queued', 'muted', 'sent', 'failed', 'gone', 'expired', 'dropped')) not valid,
  -- Since when it is held; null: it is not.
  add column held_at timestamptz,
  -- When it was held before. These times do not count for the `ttl`.
  add column holds tstzmultirange,
  -- For how many held pushes it stands. Null: for itself.
  add column collapsed integer,
  -- The push that stands for this one.
  add column collapsed_into uuid;
alter table step_deliveries
  drop constraint step_deliveries_state_check,
  add constraint step_deliveries_state_check
    check (state in ('held', 'queued', 'sent', 'delivered', 'bounced', 'complained', 'failed', 'skipped', 'expired', 'dropped'))
    not valid,
  add column held_at timestamptz,
  add column holds tstzmultirange;

-- When the quiet hours end in which a time lies; null: it lies in none. The wall clock decides whether a window has begun. Its end is
-- read as PostgreSQL reads a time that does not exist (02:30 is 03:30) or that exists twice (the later one).
-- A window that began up to two days ago counts, because a zone may leave out a day. A zone that this server does not know is UTC.
create function quiet_until(hours jsonb, zone text, moment timestamptz) returns timestamptz
language plpgsql stable as $$
begin
  return (
    select max(ends)
    from (select moment at time zone zone as wall, (hours ->> 'from')::time as begins_at, (hours ->> 'until')::time as ends_at) clock
      cross join lateral (
        select day, (day + case when ends_at > begins_at then 0 else 1 end + ends_at) at time zone zone as ends
        from (values (wall::date), (wall::date - 1), (wall::date - 2)) each (day)
      ) quiet
    where wall >= day + begins_at and ends > moment
      and (hours -> 'days' is null or hours -> 'days' ? (array['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'])[extract(dow from day)::integer + 1])
  );
exception when invalid_parameter_value then
  return quiet_until(hours, 'UTC', moment);
end $$;
