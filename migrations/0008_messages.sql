-- Messages: codes and notices, by SMS and by mail; and notices that are pushed.

-- Not validated: that would read the whole table under this lock, and every row there is passed the narrower check.
alter table outbox drop constraint outbox_channel_check;
alter table outbox add constraint outbox_channel_check check (channel in ('sms', 'email')) not valid;

-- What a message says beside its code: the values of its text's placeholders. Never a secret.
alter table outbox add column params jsonb;

-- What a user is to be told of, written in the statement in which it happened. The queue's job `notice.send` takes the
-- row away in the transaction that makes the messages of it: so each fact is told once.
create table notices (
  user_id    uuid not null,
  id         uuid not null,
  kind       text not null,
  -- Which device, from where, and what is needed to tell it; never a secret.
  data       jsonb not null,
  created_at timestamptz not null,
  primary key (user_id, id)
);

-- What is pushed where that is no notification of the inbox: {"kind", "title", "body"}.
alter table push_deliveries add column notice jsonb;
