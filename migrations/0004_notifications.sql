-- Notifications: the inbox of each user, images, and pushes.

-- ---------------------------------------------------------------------------------------------------------------------
-- The inbox
-- ---------------------------------------------------------------------------------------------------------------------

-- One row for each inbox, the head row. A transaction that creates, changes or deletes a notification locks it until
-- commit, takes the next number of its counter, and a time that is later than the last one. So the order of the numbers
-- and of the times is the order of the commits, and a client that has read up to a number misses nothing.
create table inboxes (
  user_id                   uuid primary key,
  last_change_sequence      bigint not null default 0,
  last_time                 timestamptz not null default '-infinity',
  total                     bigint not null default 0,
  -- The tombstones up to this number are deleted. A client whose last synchronisation is older must start again.
  forgotten_change_sequence bigint not null default 0,
  -- The blocks below this one are counted in inbox_blocks. The notifications of later blocks are counted row by row. Null:
  -- all full blocks are counted.
  counted_blocks            bigint
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create table notifications (
  user_id            uuid not null,
  id                 uuid not null,
  -- The number of the creation. It never changes.
  sequence           bigint not null,
  -- The number of the last change. The creation is the first change.
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
  -- There is no key on (user_id, id): each index makes a publication slower, and notifications_by_id serves its queries.
  constraint notifications_by_sequence primary key (user_id, sequence)
) with (autovacuum_vacuum_scale_factor = 0.05);
-- created_at is in the order of sequence, and updated_at in the order of change_sequence. So this index and the primary key
-- serve all sorted lists.
create unique index notifications_by_change on notifications (user_id, change_sequence);
create index notifications_by_type on notifications (user_id, notification_type, sequence);
-- Changes and deletions have only the id. Ids of version 7 begin with the time, so new rows share pages of this index.
create index notifications_by_id on notifications (id);
-- The name of a deleted user is removed from the inboxes of others: finds what still contains it.
create index notifications_by_actor on notifications (actor_id) where actor_id is not null and actor is not null;
-- An image that no notification shows is removed.
create index notifications_by_image on notifications (image_id) where image_id is not null;

-- How many notifications of a type have their sequence in a block of 1024 numbers. With it, a page is found by its number
-- without reading the pages before it. A block is counted once, when it is full. Later deletions and changes of the type
-- update its count.
create table inbox_blocks (
  user_id           uuid not null,
  block             bigint not null,
  notification_type text not null,
  rows              integer not null,
  primary key (user_id, block, notification_type)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The deletions of notifications, for clients that synchronise. A maintenance task deletes them after 30 days.
create table notification_tombstones (
  user_id         uuid not null,
  change_sequence bigint not null,
  id              uuid not null,
  sequence        bigint not null,
  deleted_at      timestamptz not null,
  primary key (user_id, change_sequence)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index notification_tombstones_by_deleted_at on notification_tombstones (deleted_at);

-- Up to which number a user has read. No row: the user has read nothing.
create table markers (
  user_id            uuid primary key,
  last_read_sequence bigint not null,
  updated_at         timestamptz not null
) with (fillfactor = 70);

-- Filters in the grammar of lists. A notification that matches one is listed, but not pushed.
create table mutes (
  user_id    uuid not null,
  id         uuid not null,
  filter     text not null,
  created_at timestamptz not null,
  primary key (user_id, id)
);

-- An image is elsewhere (its URL is stored), or stored here in three sizes (its URLs follow from its id).
create table images (
  id           uuid primary key,
  -- The user who uploaded it. Null: no user did.
  user_id      uuid,
  external_url text,
  bytes        integer not null default 0,
  -- When the clean-up looks at it next. It removes an image that no notification shows.
  check_after  timestamptz not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null
);
create index images_by_check on images (check_after);
create index images_by_user on images (user_id) where user_id is not null;

-- ---------------------------------------------------------------------------------------------------------------------
-- Pushes
-- ---------------------------------------------------------------------------------------------------------------------

-- Publications whose pushes are not created yet. The publishing statement writes one row for each request. The fan-out
-- deletes it in the transaction that creates the pushes and their jobs, usually within seconds.
create table publications (
  id               uuid primary key,
  user_ids         uuid[] not null,
  -- The notification of each user, in the same order.
  notification_ids uuid[] not null,
  size             integer not null,
  created_at       timestamptz not null,
  -- The trace of the request (W3C Trace Context), which the code stores in the setting. Null without tracing.
  traceparent      text default nullif(current_setting('postern.traceparent', true), '')
);
create index publications_by_created_at on publications (created_at, id);

-- The push of one notification or notice to one device, for 30 days.
create table push_deliveries (
  user_id         uuid not null,
  id              uuid not null,
  notification_id uuid not null,
  device_id       uuid not null,
  channel         text not null check (channel in ('apns', 'fcm', 'web_push')),
  state           text not null check (state in ('queued', 'muted', 'sent', 'failed', 'gone', 'expired', 'dropped')),
  -- Why it is in this state, as a code. And the last error, in the words of the provider.
  reason          text not null,
  last_error      text,
  -- Each attempt raises it. A job names the number of its attempt, so that none is made twice.
  attempts        integer not null default 0,
  -- When the notification was published. A push that is too old is not sent.
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  -- A push that is no notification of the inbox: {"kind", "title", "body"}.
  notice          jsonb,
  primary key (user_id, id)
);
create index push_deliveries_by_notification on push_deliveries (user_id, notification_id);
create index push_deliveries_by_created_at on push_deliveries (created_at);
