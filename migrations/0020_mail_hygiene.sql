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
