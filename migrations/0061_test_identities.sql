-- Addresses that take a fixed code in logins until they end, for the reviewers of app stores.
create table test_identities (
  id             uuid primary key,
  -- The key of the identity in `identities`.
  digest         bytea not null unique,
  type           text not null check (type in ('email', 'phone')),
  canonical      text not null,
  -- The user who had the identity when it was created: no other user gets the fixed code with it. Null: nobody had it.
  user_id        uuid,
  encrypted_code bytea not null,
  expires_at     timestamptz not null,
  created_by     text not null,
  created_at     timestamptz not null
);
create index test_identities_by_created_at on test_identities (created_at, id);
create index test_identities_by_expires_at on test_identities (expires_at);
create index test_identities_by_user on test_identities (user_id);
