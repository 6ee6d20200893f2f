-- Addresses that get no mail except codes: they bounce, their owner has reported a mail as spam, or an operator wants it. The
-- address itself is not stored, so that the list of a copied database reveals nobody.
create table suppressions (
  id             uuid primary key,
  -- Keyed with SECRET_KEY.
  address_digest bytea not null unique,
  -- The id of the secret key of the digest.
  key_id         text not null,
  reason         text not null check (reason in ('hard_bounce', 'complaint', 'soft_bounces', 'manual')),
  created_at     timestamptz not null
);
create index suppressions_by_created_at on suppressions (created_at, id);
-- Bounces are removed after a year.
create index suppressions_of_bounces on suppressions (created_at) where reason in ('hard_bounce', 'soft_bounces');

-- Mails that a provider has accepted, for 30 days, if the provider reports what becomes of them. A report is matched by the
-- provider, its id of the mail and the address, and each kind of report counts once. A mail is a message of the outbox with the
-- same id, or a step of a notification.
create table mail_deliveries (
  user_id            uuid not null,
  -- The id in the Message-ID and in the key for the provider.
  id                 uuid not null,
  -- The notification of a step. Null: a message of the outbox.
  notification_id    uuid,
  provider           text not null,
  -- The id that the provider gave the mail.
  provider_reference text not null,
  -- As in suppressions.
  address_digest     bytea not null,
  delivered_at       timestamptz,
  soft_bounced_at    timestamptz,
  hard_bounced_at    timestamptz,
  complained_at      timestamptz,
  created_at         timestamptz not null,
  primary key (user_id, id)
) with (fillfactor = 80);
create index mail_deliveries_by_reference on mail_deliveries (provider, provider_reference);
create index mail_deliveries_by_created_at on mail_deliveries (created_at);
create index mail_deliveries_soft_bounced on mail_deliveries (address_digest, soft_bounced_at) where soft_bounced_at is not null;

-- Reports about mails that are not in mail_deliveries: those that came before the transaction which records the mail has
-- committed, and those about mails of other programs. For ten minutes, and at most 10,000.
create table early_mail_reports (
  provider           text not null,
  provider_reference text not null,
  address_digest     bytea not null,
  outcome            text not null check (outcome in ('delivered', 'soft_bounce', 'hard_bounce', 'complaint')),
  created_at         timestamptz not null,
  primary key (provider, provider_reference, address_digest, outcome)
);
create index early_mail_reports_by_created_at on early_mail_reports (created_at);
