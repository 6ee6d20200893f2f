-- Messages: codes, notices, and mails to operators. The jobs that send them are in the schema of the queue,
-- graphile_worker. The statement that needs a job adds it, so that neither exists without the other.

-- One row for each message, for 30 days.
create table outbox (
  -- For a code to an identity that belongs to nobody: the derived id.
  user_id           uuid not null,
  id                uuid not null,
  authentication_id uuid,
  channel           text not null check (channel in ('sms', 'email')),
  kind              text not null,
  -- Null: there is nobody to send it to. It takes the same steps, and is dropped when it is dispatched.
  recipient         text,
  -- 'delivered' and 'undelivered' are receipts of a provider.
  state             text not null check (state in ('queued', 'sent', 'failed', 'expired', 'dropped', 'delivered', 'undelivered')),
  attempts          smallint not null default 0,
  last_error        text,
  -- The code, encrypted. Null: the message has none.
  sealed_code       bytea,
  expires_at        timestamptz not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  -- The values of the placeholders in its text. Never contains a secret.
  params            jsonb,
  -- The provider that accepted it, and the id that this provider gave it.
  provider           text,
  provider_reference text,
  -- A receipt that came before the acceptance was committed: {"provider", "reference", "reason"}.
  early_receipt      jsonb,
  primary key (user_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index outbox_by_created_at on outbox (created_at, id);
-- An operator repeats a message by its id.
create index outbox_by_id on outbox (id);
create index outbox_failed on outbox (created_at, id) where state = 'failed';

-- Codes that are not dispatched yet. The statement that writes the message writes this row. The dispatch takes many rows in
-- one statement: it drops codes to nobody, and adds a job for every other one.
create table undispatched_messages (
  user_id    uuid not null,
  -- The row of the outbox.
  id         uuid not null,
  -- How many codes the client's network has requested recently, with this one (take_turn). Lower numbers are sent first.
  turn       smallint not null,
  created_at timestamptz not null,
  -- As in publications.
  traceparent text default nullif(current_setting('postern.traceparent', true), ''),
  primary key (user_id, id)
);
create index undispatched_messages_by_created_at on undispatched_messages (created_at);

-- What a user must be told. The statement in which it happens writes the row. The job `notice.send` deletes it in the
-- transaction that creates the messages, pushes and the entry of the inbox, so each fact is told once.
create table notices (
  user_id    uuid not null,
  id         uuid not null,
  kind       text not null,
  -- The device, the place, and what the texts need. Never contains a secret.
  data       jsonb not null,
  created_at timestamptz not null,
  primary key (user_id, id)
);

-- Providers that fail, as all processes see them. A row exists from the first failure on.
create table message_providers (
  name          text primary key,
  -- Null: it works again.
  failing_since timestamptz,
  last_error    text not null,
  updated_at    timestamptz not null
);
