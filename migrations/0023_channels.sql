-- The channels of notifications: whether one is paused, and how many messages it may send now. Codes and notices do not use it.
create table channels (
  name       text primary key,
  -- Null: the channel is not paused.
  paused_at  timestamptz,
  -- operator, or why Postern has paused it: complaints, hard_bounces. Null if it is not paused.
  reason     text,
  -- When the pause ended. Mails before it do not cause the next one.
  resumed_at timestamptz not null default 'epoch',
  -- How many messages the channel may send at once at `tokens_at`, with MAIL_RATE or SMS_RATE (a token bucket).
  tokens     double precision not null default 0,
  tokens_at  timestamptz not null default 'epoch'
) with (fillfactor = 50);
insert into channels (name) values ('push'), ('email'), ('sms');

-- What users have chosen about the inbox, and the choices that are removed some time after their category.
alter table notification_categories
  -- The categories for which somebody has chosen whether notifications come to the inbox. Only for these, a publication looks the
  -- choices up.
  add column inbox_choices text[] not null default '{}',
  -- The time at which a category was deleted, by its name.
  add column deleted jsonb not null default '{}';

-- True: the user does not want notifications of the category in the inbox. They count as read and archived, and no tab shows them.
-- Null: the same as false. The former release shows them.
alter table notifications add column is_hidden boolean;
