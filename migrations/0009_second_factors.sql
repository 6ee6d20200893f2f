-- What users prove beside their first secret: codes of an authenticator app, passkeys, and recovery codes for when those
-- are lost.

-- One authenticator app a user.
create table totp (
  user_id      uuid primary key,
  id           uuid not null,
  -- Encrypted under SECRET_KEY, bound to the user. Its codes are computed from it, so a digest would not do.
  secret       bytea not null,
  -- The last time step, of 30 s since 1970, whose code was accepted. Only later ones are from then on.
  last_step    bigint not null,
  created_at   timestamptz not null,
  last_used_at timestamptz not null
);

create table recovery_codes (
  user_id    uuid not null,
  -- Keyed digest. A code is gone when it is used.
  digest     bytea not null,
  created_at timestamptz not null,
  primary key (user_id, digest)
);

create table passkeys (
  user_id       uuid not null,
  id            uuid not null,
  credential_id bytea not null,
  -- As COSE.
  public_key    bytea not null,
  -- The authenticator's count of signatures; 0 for one that does not count, as passkeys that are synchronised.
  counter       bigint not null,
  transports    text[] not null,
  name          text not null,
  backed_up     boolean not null,
  created_at    timestamptz not null,
  last_used_at  timestamptz,
  primary key (user_id, id),
  unique (user_id, credential_id)
);

-- When this user is asked for a second factor; null: as the role, or the configuration, says. Nothing is there to be
-- validated, and validating would read the whole table.
alter table users
  add column second_factor text,
  add constraint users_second_factor_check check (second_factor in ('off', 'own', 'required')) not valid;
