-- The categories of notifications that an operator has defined or changed, as an array of their definitions. A notification
-- type has a category of its own name, which is only here if it differs from the defaults. One row, of a few megabytes at
-- most: the categories are always read and checked together.
create table notification_categories (
  only_one   boolean primary key default true check (only_one),
  -- Each process keeps the categories in memory, and reads them again when this number has changed: the number of the last
  -- transaction that changed them.
  version    bigint not null,
  categories jsonb not null
);
insert into notification_categories (version, categories) values (0, '[]');

alter table notifications
  -- The category that the publisher has named. Null: that of the notification type.
  add column category text,
  -- A later notification of the user with this key replaces this one.
  add column replace_key text;
