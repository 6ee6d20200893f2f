-- Who accepted a message, the id that this provider gave it, and whether it reports that the message has arrived.
alter table outbox add column provider text;
alter table outbox add column provider_reference text;
-- A report about a message whose acceptance is not committed yet: {"provider", "reference", "reason"}.
alter table outbox add column early_receipt jsonb;

-- Not validated here, so that the lock does not last for a scan: 0052 validates it.
alter table outbox drop constraint outbox_state_check;
alter table outbox add constraint outbox_state_check
  check (state in ('queued', 'sent', 'failed', 'expired', 'dropped', 'delivered', 'undelivered')) not valid;

-- Providers of messages that fail, as all processes see it. A row exists from the first failure on.
create table message_providers (
  name          text primary key,
  -- Null: it works again.
  failing_since timestamptz,
  last_error    text not null,
  updated_at    timestamptz not null
);
