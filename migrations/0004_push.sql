-- Push: where a device is reached, what was published and is yet to be pushed, and what became of each push.

-- The browser's PushSubscription: {"endpoint", "keys": {"p256dh", "auth"}}.
alter table devices add column web_push_subscription jsonb;

-- Whoever registers a token takes it from whoever had it. Hash: tokens are long, and only compared for equality.
create index devices_by_apn_device_token on devices using hash (apn_device_token);
create index devices_by_gcm_device_token on devices using hash (gcm_device_token);
create index devices_by_web_push_endpoint on devices using hash ((web_push_subscription->>'endpoint'));

-- Gives a device the tokens that are not null, and takes them from every other device: a phone that changed hands must
-- not get its former owner's notifications. Claims of one token take turns, so that the last one has it alone. Tokens are
-- locked in one order of their kinds, and then all rows that change in the order of their keys, so that no two claims can
-- wait for each other.
-- Null: there is no such device. False: it had them all before.
create function claim_push_tokens(for_user uuid, for_device uuid, apn text, gcm text, web jsonb)
returns boolean language plpgsql as $$
declare
  had devices;
begin
  perform pg_advisory_xact_lock(hashtextextended('apn ' || apn, 0)) where apn is not null;
  perform pg_advisory_xact_lock(hashtextextended('gcm ' || gcm, 0)) where gcm is not null;
  perform pg_advisory_xact_lock(hashtextextended('web ' || (web->>'endpoint'), 0)) where web is not null;

  perform from devices
  where (user_id, id) = (for_user, for_device) or apn_device_token = apn or gcm_device_token = gcm
    or web_push_subscription->>'endpoint' = web->>'endpoint'
  order by user_id, id for update;

  update devices set apn_device_token = null
  where apn_device_token = apn and (user_id, id) <> (for_user, for_device);
  update devices set gcm_device_token = null
  where gcm_device_token = gcm and (user_id, id) <> (for_user, for_device);
  update devices set web_push_subscription = null
  where web_push_subscription->>'endpoint' = web->>'endpoint' and (user_id, id) <> (for_user, for_device);

  select * into had from devices where user_id = for_user and id = for_device for update;
  if not found then return null; end if;
  update devices
  set apn_device_token = coalesce(apn, apn_device_token), gcm_device_token = coalesce(gcm, gcm_device_token),
      web_push_subscription = coalesce(web, web_push_subscription), updated_at = db_now()
  where user_id = for_user and id = for_device;
  return (apn is not null and apn is distinct from had.apn_device_token)
      or (gcm is not null and gcm is distinct from had.gcm_device_token)
      or (web is not null and web is distinct from had.web_push_subscription);
end $$;

-- What was published, until it is known who is to be pushed: one row a request, written in its statement. Holds ids of
-- many users, which is why it is gone within seconds.
create table publications (
  id               uuid primary key,
  user_ids         uuid[] not null,
  -- Beside each user the notification.
  notification_ids uuid[] not null,
  size             integer not null,
  created_at       timestamptz not null
);
create index publications_by_created_at on publications (created_at, id);

-- What became of the push of one notification to one device. Kept 30 days.
create table push_deliveries (
  user_id         uuid not null,
  id              uuid not null,
  notification_id uuid not null,
  device_id       uuid not null,
  channel         text not null check (channel in ('apns', 'fcm', 'web_push')),
  state           text not null check (state in ('queued', 'muted', 'sent', 'failed', 'gone', 'expired', 'dropped')),
  -- Why it is in that state: a code. And what went wrong last, in the provider's terms.
  reason          text not null,
  last_error      text,
  -- Raised with each attempt. A job names the attempt that it is for, so that none is made twice.
  attempts        integer not null default 0,
  -- When the notification was published: what is too old is no longer sent.
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (user_id, id)
);
create index push_deliveries_by_notification on push_deliveries (user_id, notification_id);
create index push_deliveries_by_created_at on push_deliveries (created_at);
