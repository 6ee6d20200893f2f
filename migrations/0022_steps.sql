-- Steps of notifications: what follows the push at once, such as a mail if the notification is not read in an hour. The push at
-- once stays in push_fan_outs: a publication without other steps writes nothing here. The former release goes on working beside
-- this one: it ignores these tables.

-- One row for each step of a publishing request that is not carried out yet, however many users it has. The engine of steps
-- deletes it in the transaction that writes the deliveries and the refusals.
create table pending_steps (
  id               uuid primary key,
  user_ids         uuid[] not null,
  -- The notification of each user, in the same order.
  notification_ids uuid[] not null,
  size             integer not null,
  channel          text not null check (channel in ('push', 'email', 'sms')),
  condition        text not null check (condition in ('always', 'unread', 'undelivered')),
  -- When the first of the notifications was published.
  published_at     timestamptz not null,
  due_at           timestamptz not null,
  -- As in push_fan_outs.
  traceparent      text default nullif(current_setting('postern.traceparent', true), '')
);
create index pending_steps_by_due_at on pending_steps (due_at, id);
create index pending_steps_by_published_at on pending_steps (published_at);

-- The mail or SMS of one notification, for 30 days. A push has its rows in push_deliveries: one for each device.
create table step_deliveries (
  user_id          uuid not null,
  -- The id in the Message-ID and in the key for the provider.
  id               uuid not null,
  notification_id  uuid not null,
  channel          text not null check (channel in ('email', 'sms')),
  condition        text not null check (condition in ('always', 'unread', 'undelivered')),
  state            text not null check (state in ('queued', 'sent', 'delivered', 'bounced', 'complained', 'failed', 'skipped',
                                                  'expired', 'dropped')),
  -- Why it is in this state, as a code. And the last error, in the words of the provider.
  reason           text not null,
  last_error       text,
  -- The provider that accepted it.
  provider         text,
  -- Each attempt raises it. A job names the number of its attempt, so that none is made twice.
  attempts         integer not null default 0,
  -- Null: no provider was called.
  first_attempt_at timestamptz,
  -- When the step was due.
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  primary key (user_id, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index step_deliveries_by_notification on step_deliveries (user_id, notification_id);
create index step_deliveries_by_created_at on step_deliveries (created_at);
-- What is handed over before a delivery to the same user.
create index step_deliveries_queued on step_deliveries (user_id, channel, created_at, id) where state = 'queued';

-- For which notifications a step was not carried out, and why: one row for each step of a publishing request and each reason, for
-- 30 days. It has no ids of users.
create table step_refusals (
  id               uuid primary key,
  notification_ids uuid[] not null,
  channel          text not null check (channel in ('push', 'email', 'sms')),
  state            text not null check (state in ('skipped', 'expired', 'dropped', 'failed')),
  reason           text not null,
  -- As in pending_steps: a notification finds its rows by it.
  published_at     timestamptz not null,
  created_at       timestamptz not null
);
create index step_refusals_by_published_at on step_refusals (published_at);
create index step_refusals_by_created_at on step_refusals (created_at);
