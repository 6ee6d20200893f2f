-- Accounts at OpenID providers that name users here. Found by digest of issuer and subject: one short key of one length,
-- also for routing. Never by mail address.
create table external_identities (
  digest     bytea primary key,
  user_id    uuid not null,
  id         uuid not null,
  -- The provider's name in OIDC_PROVIDERS when it was linked.
  provider   text not null,
  issuer     text not null,
  subject    text not null,
  created_at timestamptz not null
);
create index external_identities_by_user on external_identities (user_id, created_at);
