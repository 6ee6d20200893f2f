-- The whole foundation. Every per-user table is keyed (user_id, …): a hot query names one user, unique constraints
-- include the distribution column, and no sequence or trigger spans users, so that the schema also runs distributed.

-- The one clock that decides rights. A function of its own so that tests can step it.
create function db_now() returns timestamptz language sql volatile as $$ select clock_timestamp() $$;

create table users (
  id            uuid primary key,
  username      text,
  email         text,
  phone         text,
  name          text not null default '',
  locale        text,
  status        text not null default 'active' check (status in ('active', 'deactivated')),
  role          text not null default 'user' check (role in ('user', 'support', 'operator')),
  -- An operator's lock: 'temporary' ends at locked_until, 'permanent' when an operator ends it.
  lock_kind     text check (lock_kind in ('temporary', 'permanent')),
  locked_until  timestamptz,
  lock_reason   text,
  -- Authentications carry the epoch they were started in; raising it ends all of them with one row written.
  epoch         integer not null default 0,
  password_hash text,
  pin_hash      text,
  metadata      jsonb not null default '{}',
  created_at    timestamptz not null,
  updated_at    timestamptz not null
);
create index users_by_created_at on users (created_at, id);
create index users_by_updated_at on users (updated_at, id);

-- Who an identity names. Found by digest of type and canonical value: one short key of one length, also for routing.
create table identities (
  digest    bytea primary key,
  user_id   uuid not null,
  type      text not null check (type in ('email', 'phone', 'username')),
  canonical text not null
);
create index identities_by_user on identities (user_id);

create table devices (
  user_id          uuid not null,
  id               uuid not null,
  make             text,
  model            text,
  os_name          text,
  os_version       text,
  sdk_version      text,
  apn_device_token text,
  gcm_device_token text,
  screen_width     text,
  screen_height    text,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  -- When a login on the device was last approved; updated_at also moves when the device is described anew.
  last_login_at    timestamptz not null default db_now(),
  primary key (user_id, id)
);

-- Every login, from its start to the end of its token. For an identity that names nobody, user_id is a stand-in
-- derived from the identity, so that such a login takes the same path through the same rows.
create table authentications (
  user_id           uuid not null,
  id                uuid not null,
  device_id         uuid not null,
  authenticator     text not null,
  status            text not null check (status in ('created', 'pending', 'approved', 'rejected')),
  error_code        text not null default '',
  epoch             integer not null,
  -- While open: what the device said of itself (recorded as a device on approval) and the authenticator's own state.
  device            jsonb,
  challenge         jsonb,
  challenge_ends_at timestamptz,
  pin_refused       boolean not null default false,
  guesses           smallint not null default 0,
  -- SHA-256 of the Idempotency-Key of the approving request: its repeat is approved again while the token is unused.
  approval_key      bytea,
  token_digest      bytea,
  expires_at        timestamptz not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  approved_at       timestamptz,
  first_used_at     timestamptz,
  ended_at          timestamptz,
  primary key (user_id, id)
);
-- The status route and step 2 know the id alone.
create index authentications_by_id on authentications (id);
create index authentications_by_device on authentications (user_id, device_id) where status = 'approved' and ended_at is null;

create table sessions (
  user_id           uuid not null,
  id                uuid not null,
  authentication_id uuid not null,
  device_id         uuid not null,
  token_digest      bytea not null,
  created_at        timestamptz not null,
  expires_at        timestamptz not null,
  primary key (user_id, id)
);

-- What was sent, or is about to be: one row a message, driven by a queue job of the same transaction.
create table outbox (
  user_id           uuid not null,
  id                uuid not null,
  authentication_id uuid,
  channel           text not null check (channel in ('sms')),
  kind              text not null,
  -- Null: nobody to send to; the message goes through the same queue and is dropped there.
  recipient         text,
  state             text not null check (state in ('queued', 'sent', 'failed', 'expired', 'dropped')),
  attempts          smallint not null default 0,
  last_error        text,
  sealed_code       bytea,
  expires_at        timestamptz not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  primary key (user_id, id)
);
create index outbox_by_created_at on outbox (created_at, id);

-- What happened: a user's activity and the operator's audit trail. Never holds a secret.
create table events (
  user_id    uuid not null,
  id         uuid not null,
  type       text not null,
  actor      text not null,
  address    inet,
  request_id text,
  data       jsonb not null default '{}',
  created_at timestamptz not null,
  primary key (user_id, id)
);
create index events_by_user on events (user_id, created_at);
create index events_by_created_at on events (created_at, id);

-- One head per user orders the inbox. It is locked until commit, so number order is commit order.
create table inboxes (
  user_id                   uuid primary key,
  last_change_sequence      bigint not null default 0,
  last_time                 timestamptz not null default '-infinity',
  total                     bigint not null default 0,
  -- Deletions up to this one are no longer told apart: who last synchronised before it starts anew.
  forgotten_change_sequence bigint not null default 0
) with (fillfactor = 70);

-- change_sequence is new on each create, update and delete; sequence is the one that the notification was created with.
create table notifications (
  user_id            uuid not null,
  id                 uuid not null,
  sequence           bigint not null,
  change_sequence    bigint not null,
  actor_id           uuid,
  actor              text,
  notification_type  text not null,
  notification_key   text,
  object_id          uuid,
  object_data_number numeric,
  object_data_string text not null default '',
  description        text not null,
  image_id           uuid,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  primary key (user_id, id)
);
-- created_at grows with sequence and updated_at with change_sequence, so these two serve every sort.
create unique index notifications_by_sequence on notifications (user_id, sequence);
create unique index notifications_by_change on notifications (user_id, change_sequence);
create index notifications_by_type on notifications (user_id, notification_type, sequence);
-- Changing and deleting know the id alone.
create index notifications_by_id on notifications (id);
-- Who is deleted disappears from others' inboxes: only what still names its actor is left to be found. And an image that
-- nothing shows is removed.
create index notifications_by_actor on notifications (actor_id) where actor_id is not null and actor is not null;
create index notifications_by_image on notifications (image_id) where image_id is not null;

-- How many notifications of a type have their sequence in a block of 1024: what finds the page of a typed number
-- without counting its way there.
create table inbox_blocks (
  user_id           uuid not null,
  block             bigint not null,
  notification_type text not null,
  rows              integer not null,
  primary key (user_id, block, notification_type)
) with (fillfactor = 70);

-- That a notification was deleted, for who synchronises. Kept 30 days.
create table notification_tombstones (
  user_id         uuid not null,
  change_sequence bigint not null,
  id              uuid not null,
  sequence        bigint not null,
  deleted_at      timestamptz not null,
  primary key (user_id, change_sequence)
);
create index notification_tombstones_by_deleted_at on notification_tombstones (deleted_at);

-- Up to where a user has read. Absent: nothing yet.
create table markers (
  user_id            uuid primary key,
  last_read_sequence bigint not null,
  updated_at         timestamptz not null
) with (fillfactor = 70);

-- Filters in the grammar of lists: what matches one is listed, but not pushed.
create table mutes (
  user_id    uuid not null,
  id         uuid not null,
  filter     text not null,
  created_at timestamptz not null,
  primary key (user_id, id)
);

-- An image is hosted elsewhere (its URLs are kept), or stored here in three renditions (its URLs follow from its id).
create table images (
  id           uuid primary key,
  -- Who uploaded it, if a user did.
  user_id      uuid,
  external_url text,
  bytes        integer not null default 0,
  -- When it is to be looked at next: an image that no notification shows is removed then.
  check_after  timestamptz not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null
);
create index images_by_check on images (check_after);
create index images_by_user on images (user_id) where user_id is not null;

create table api_keys (
  id           uuid primary key,
  name         text not null,
  scopes       text[] not null,
  token_digest bytea not null,
  expires_at   timestamptz,
  last_used_at timestamptz,
  revoked_at   timestamptz,
  created_at   timestamptz not null
);

-- Answers kept for Idempotency-Key. The row is committed first with a lease; the answer commits with the effect.
create table idempotency_keys (
  caller        text not null,
  key_digest    bytea not null,
  request       bytea not null,
  lease_ends_at timestamptz not null,
  status        smallint,
  headers       jsonb,
  -- Encrypted: the answer to a new API key holds the key.
  sealed_body   bytea,
  created_at    timestamptz not null,
  primary key (caller, key_digest)
);
create index idempotency_keys_by_created_at on idempotency_keys (created_at);
