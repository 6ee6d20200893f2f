-- Publications: one notification for many users, which background work writes in chunks. Each chunk is one transaction that
-- locks the row, checks the state, inserts the notifications and moves the cursor. The former release goes on working beside this
-- one: it ignores these tables. The view `publications` is for a release before it, so the table has a longer name.
create table notification_publications (
  id                  uuid primary key,
  status              text not null check (status in ('scheduled', 'running', 'paused', 'done', 'cancelled', 'failed')),
  -- {"topic": key}, {"users": filter}, {"everyone": true}, or {"count": n} for the people of publication_recipients.
  target              jsonb not null,
  topic_id            uuid,
  -- As the request had it, without users.
  notification        jsonb not null,
  send_at             timestamptz,
  -- Recipients a second. Null: as fast as other requests allow.
  rate                integer,
  -- Null before the start. Then an estimate, and at the end the exact number.
  recipients          bigint,
  created             bigint not null default 0,
  -- Users who were deleted or deactivated before their chunk.
  skipped             bigint not null default 0,
  -- The last user that a chunk has examined.
  position            uuid,
  error_code          text,
  -- When the next step is due: the start, a chunk, or a part of the recall. Null: none.
  due_at              timestamptz,
  started_at          timestamptz,
  ended_at            timestamptz,
  recall_requested_at timestamptz,
  recall_finished_at  timestamptz,
  removed             bigint not null default 0,
  -- Raised by each request that changes the row, for If-Match.
  version             bigint not null default 1,
  created_at          timestamptz not null,
  updated_at          timestamptz not null
) with (fillfactor = 50);
create index notification_publications_by_due_at on notification_publications (due_at, id) where due_at is not null;
create index notification_publications_by_created_at on notification_publications (created_at, id);
create index notification_publications_by_ended_at on notification_publications (ended_at);
-- A topic is not deleted while a publication to it is not finished.
create index notification_publications_by_topic on notification_publications (topic_id) where ended_at is null;

-- The people of a publication with a list of users, until it ends.
create table publication_recipients (
  publication_id uuid not null references notification_publications (id) on delete cascade,
  user_id        uuid not null,
  primary key (publication_id, user_id)
);
create index publication_recipients_by_user on publication_recipients (user_id);

-- What the chunks of a publication have created, so that it can be recalled. Users are in the order of their ids.
create table publication_chunks (
  publication_id   uuid not null references notification_publications (id) on delete cascade,
  first_user       uuid not null,
  last_user        uuid not null,
  user_ids         uuid[] not null,
  -- The notification of each user, in the same order.
  notification_ids uuid[] not null,
  primary key (publication_id, first_user)
);

-- When the row was inserted: imports set created_at. Null: before this column existed. A publication reaches users who were there
-- when it started.
alter table users add column inserted_at timestamptz;
alter table users alter column inserted_at set default db_now();
