-- Topics, to which users are subscribed: a publication to a topic reaches those who are subscribed when their part of it is
-- written. The former release goes on working beside this one: it ignores the tables and columns.
create table topics (
  id                uuid primary key,
  -- The name in the API. Null: the topic is deleted, and a maintenance task removes its subscriptions and then this row. So a
  -- deletion takes one row, and a new topic with the same name begins without subscriptions.
  key               text unique,
  title             text not null,
  -- Whether users may join by themselves.
  is_open           boolean not null,
  -- Whether a user has chosen if notifications of the topic come to the inbox. Only then, a publication looks the choices up.
  has_inbox_choices boolean not null default false,
  created_at        timestamptz not null,
  updated_at        timestamptz not null
);

create table subscriptions (
  topic_id   uuid not null,
  user_id    uuid not null,
  created_at timestamptz not null,
  -- The order in which a publication reads them.
  primary key (topic_id, user_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index subscriptions_by_user on subscriptions (user_id, topic_id);

-- For each topic and in it for each channel {value, chosen_at}, as `categories` has it.
alter table preferences add column topics jsonb not null default '{}';

-- The key of the topic to which the notification was published. Null: to none.
alter table notifications add column topic text;
