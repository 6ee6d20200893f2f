-- Outgoing webhooks. If there is an endpoint, the statement that causes an event also writes a row of webhook_outbox. A
-- relay, which one process at a time runs, turns these rows into events with numbers and into deliveries, in one
-- transaction. Every process sends deliveries. Without an endpoint, each trigger costs one look-up in an empty table.

create table webhook_endpoints (
  id                    uuid primary key,
  url                   text not null,
  description           text not null,
  -- Types of events, or patterns such as `user.*`.
  events                text[] not null,
  filter                text not null,
  payload               text not null check (payload in ('thin', 'full')),
  -- Whether `events` includes types of the inbox. Each publication then writes a row of webhook_outbox.
  has_inbox_events      boolean not null,
  enabled               boolean not null default true,
  disabled_reason       text,
  disabled_at           timestamptz,
  -- Encrypted with SECRET_KEY. The previous secret also signs, until its end.
  secret                bytea not null,
  previous_secret       bytea,
  previous_secret_until timestamptz,
  created_at            timestamptz not null,
  updated_at            timestamptz not null
);

-- The results of the last deliveries. Not in webhook_endpoints, because each delivery writes this table, and each event
-- reads that one.
create table webhook_health (
  endpoint_id     uuid primary key,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  -- The first failure since the last success.
  failing_since   timestamptz,
  last_error      text
);

-- The key pair of the signatures `v1a`. The private key is encrypted with SECRET_KEY.
create table webhook_keys (
  id          uuid primary key,
  public_key  text not null,
  private_key bytea not null,
  created_at  timestamptz not null
);

-- One row for each statement that causes events, for however many users.
create table webhook_outbox (
  id         uuid primary key default gen_random_uuid(),
  -- The time of the last of its events. The statement reads it while it holds the locks of the users, so the order of the
  -- times is the order of the changes of each user.
  created_at timestamptz not null,
  -- The type of an event, or of an audit event.
  type       text not null,
  actor      text,
  user_ids   uuid[] not null,
  -- For notifications: their ids and sequences, in the order of `user_ids`.
  object_ids uuid[],
  sequences  bigint[],
  data       jsonb,
  -- As in publications.
  traceparent text default nullif(current_setting('postern.traceparent', true), '')
)
-- Short-lived rows.
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
      autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0);
create index webhook_outbox_order on webhook_outbox (created_at, id);

-- The number of the last event of each user.
create table webhook_users (
  user_id       uuid primary key,
  last_sequence bigint not null
);

-- The events, for 30 days.
create table webhook_events (
  user_id    uuid not null,
  sequence   bigint not null,
  id         uuid not null,
  type       text not null,
  data       jsonb not null,
  created_at timestamptz not null,
  traceparent text,
  primary key (user_id, sequence)
);
create index webhook_events_by_time on webhook_events (created_at, user_id, sequence);

-- One event to one endpoint, for 30 days.
create table webhook_deliveries (
  user_id          uuid not null,
  id               uuid not null,
  endpoint_id      uuid not null,
  sequence         bigint not null,
  event_id         uuid not null,
  type             text not null,
  state            text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- It has failed for so long that later events of the user no longer wait for it.
  is_late          boolean not null default false,
  attempts         int not null default 0,
  first_attempt_at timestamptz,
  last_attempt_at  timestamptz,
  next_attempt_at  timestamptz,
  -- The HTTP status and the beginning of the body of the last answer.
  status           int,
  answer           text,
  error            text,
  duration_ms      int,
  created_at       timestamptz not null,
  primary key (user_id, id)
);
create index webhook_deliveries_pending on webhook_deliveries (user_id, endpoint_id, sequence, id) where state = 'pending';
create index webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, created_at, id);
create index webhook_deliveries_by_time on webhook_deliveries (created_at);

-- The pending deliveries of a user to an endpoint, as one row. One sender at a time reserves it, and sends the deliveries
-- in the order of their events.
create table webhook_queues (
  user_id     uuid not null,
  endpoint_id uuid not null,
  -- The number of pending deliveries.
  pending     int not null,
  -- When a sender may reserve it. If a sender has reserved it: when another one may, because the first one must have died.
  due_at      timestamptz not null,
  -- The sender that has reserved it.
  lease       uuid,
  primary key (user_id, endpoint_id)
)
with (fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
      autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0);
create index webhook_queues_due on webhook_queues (endpoint_id, due_at);

-- Requested replays. The relay creates their deliveries in steps.
create table webhook_replays (
  id           uuid primary key,
  endpoint_id  uuid not null,
  from_time    timestamptz not null,
  until_time   timestamptz not null,
  -- The last event that was replayed.
  at_time      timestamptz,
  at_user      uuid,
  at_sequence  bigint,
  created_at   timestamptz not null
);

-- Events that have no audit event: a new device, the end of one login, and the end of all logins of a user. The argument of
-- the trigger says which. The trigger on audit events, feed_events, writes the others.
create function webhook_of_row() returns trigger language plpgsql as $$
begin
  if not exists (select from webhook_endpoints) then return null; end if;
  if tg_argv[0] = 'device.added' then
    insert into webhook_outbox (created_at, type, user_ids, data)
    values (db_now(), 'device.added', array[new.user_id], jsonb_build_object('device_id', new.id));
  elsif tg_argv[0] = 'token.ended' then
    insert into webhook_outbox (created_at, type, user_ids, data)
    values (db_now(), 'token.ended', array[new.user_id],
            jsonb_build_object('authentication_id', new.id, 'device_id', new.device_id));
  else
    insert into webhook_outbox (created_at, type, user_ids, data)
    values (db_now(), 'token.ended', array[new.id], jsonb_build_object('authentication_id', null, 'device_id', null));
  end if;
  return null;
end $$;

create trigger webhook_of_device after insert on devices
  for each row execute function webhook_of_row('device.added');
create trigger webhook_of_authentication after update of ended_at on authentications
  for each row when (old.ended_at is null and new.ended_at is not null and new.status = 'approved')
  execute function webhook_of_row('token.ended');
create trigger webhook_of_user after update of epoch on users
  for each row when (old.epoch <> new.epoch) execute function webhook_of_row('tokens.ended');
