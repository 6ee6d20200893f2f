-- Caps and digests of categories. The former release goes on working beside this one: it sends without caps, and sends each mail alone.
-- A digest whose job it takes it sends as a mail of the newest member: so an update of all instances should not take longer than needed.

-- When notifications of a category were sent to a user by a channel, if the category has a cap: at most as many as the cap allows.
create table category_caps (
  user_id          uuid not null,
  -- The channel, a dot and the name of the category, such as email.billing.
  name             text not null,
  -- The notifications and their times, in the same order, the oldest first.
  notification_ids uuid[] not null,
  times            timestamptz[] not null,
  updated_at       timestamptz not null,
  primary key (user_id, name)
);
create index category_caps_by_updated_at on category_caps (updated_at);

-- The digests of users. The members of a digest are the unread notifications of the category with
-- closed_through < sequence <= the last sequence when it closes. While a digest is open, closed_through is where it begins: before its
-- first notification, and never before the end of the last one.
create table digests (
  user_id        uuid not null,
  category       text not null,
  channel        text not null check (channel = 'email'),
  closed_through bigint not null,
  -- Where the last one ended.
  last_closed_through bigint not null default 0,
  -- When it closes. Null: nothing has joined it since it closed.
  due_at         timestamptz,
  updated_at     timestamptz not null,
  primary key (user_id, category, channel)
);
create index digests_by_due_at on digests (due_at) where due_at is not null;
create index digests_by_updated_at on digests (updated_at) where due_at is null;

alter table step_deliveries
  -- A digest: its category, how many notifications it had when it closed, and the newest 1,000 of them. Null: a single notification.
  add column digest_category text,
  add column digest_count integer,
  add column member_ids uuid[];

-- When a digest closes into which a notification comes at a time: after a duration such as 15m, or at the next `daily 09:00` or
-- `weekly mon 09:00` on the wall clock of a zone. A zone that this server does not know is UTC.
create function digest_due(every text, zone text, moment timestamptz) returns timestamptz
language plpgsql stable as $$
declare
  words text[] := string_to_array(every, ' ');
begin
  if cardinality(words) = 1 then
    return moment + case right(every, 1) when 's' then 1 when 'm' then 60 when 'h' then 3600 else 86400 end
                    * left(every, -1)::numeric * interval '1 second';
  end if;
  return (
    select min(due)
    from (select (((moment at time zone zone)::date + days) + words[cardinality(words)]::time) as wall from generate_series(0, 8) days) each
      cross join lateral (select wall at time zone zone as due) instant
    where due > moment
      and (words[1] = 'daily' or words[2] = (array['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'])[extract(dow from wall)::integer + 1])
  );
exception when invalid_parameter_value then
  return digest_due(every, 'UTC', moment);
end $$;
