-- Outgoing webhooks. What happens to a user is written into `webhook_outbox` in the statement that causes it, if there is an
-- endpoint. A relay turns these rows into `webhook_events`, numbered for each user, and into deliveries.
create table webhook_endpoints (
  id                    uuid primary key,
  url                   text not null,
  description           text not null,
  -- Types, or patterns such as `user.*`.
  events                text[] not null,
  filter                text not null,
  payload               text not null check (payload in ('thin', 'full')),
  -- Whether `events` includes types of the inbox, which cost each publication a row.
  has_inbox_events      boolean not null,
  enabled               boolean not null default true,
  disabled_reason       text,
  disabled_at           timestamptz,
  -- Encrypted with SECRET_KEY. The previous one also signs, until its end.
  secret                bytea not null,
  previous_secret       bytea,
  previous_secret_until timestamptz,
  created_at            timestamptz not null,
  updated_at            timestamptz not null
);

-- Beside the endpoints: each delivery writes here, and each event reads there whether there is an endpoint.
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

-- One row for each statement that causes events, however many users it concerns.
create table webhook_outbox (
  id         uuid primary key default gen_random_uuid(),
  -- The time of the last of its events: later statements about one of the users are later.
  created_at timestamptz not null,
  -- The type of an event, or of an audit event.
  type       text not null,
  actor      text,
  user_ids   uuid[] not null,
  -- For notifications: their ids and sequences, in the order of `user_ids`.
  object_ids uuid[],
  sequences  bigint[],
  data       jsonb
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

create table webhook_events (
  user_id    uuid not null,
  sequence   bigint not null,
  id         uuid not null,
  type       text not null,
  data       jsonb not null,
  created_at timestamptz not null,
  primary key (user_id, sequence)
);
create index webhook_events_by_time on webhook_events (created_at, user_id, sequence);

create table webhook_deliveries (
  user_id          uuid not null,
  id               uuid not null,
  endpoint_id      uuid not null,
  sequence         bigint not null,
  event_id         uuid not null,
  type             text not null,
  state            text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- It no longer holds back later events of the user.
  is_late          boolean not null default false,
  attempts         int not null default 0,
  first_attempt_at timestamptz,
  last_attempt_at  timestamptz,
  next_attempt_at  timestamptz,
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

-- The pending deliveries of a user to an endpoint, as one row: one sender at a time takes it.
create table webhook_queues (
  user_id     uuid not null,
  endpoint_id uuid not null,
  -- Deliveries that are pending.
  pending     int not null,
  -- When a sender may take it. While one has it: when another may, because the first one must have died.
  due_at      timestamptz not null,
  -- The sender that has it.
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

-- Audit events cause events for endpoints. Logins to identities without an account have no user to tell about.
create or replace function feed_events() returns trigger language plpgsql as $$
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

-- What has no audit event.
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
