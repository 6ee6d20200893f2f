-- The last re-authentication in a login, and the methods of all of them, each once (`amr`). The last release goes on working beside
-- this one: it inserts the defaults, which are constants, so PostgreSQL writes no row.
alter table authentications
  add column proven_at timestamptz,
  add column proven_by text[] not null default '{}';

-- A check of a session shows when and how its login was made and proven.
create or replace trigger session_change_of_authentication
  after update of user_id, id, status, ended_at, epoch, authenticator, second_factor, approved_at, proven_at, proven_by
  on authentications
  for each row when (old.status = 'approved' and old.ended_at is null) execute function note_session_change();
alter table authentications enable always trigger session_change_of_authentication;

-- Access tokens for other services: the services, and the keys that sign. Both are new tables.
create table audiences (
  id         uuid primary key,
  -- What tokens have in `aud`.
  uri        text not null unique,
  alg        text not null check (alg in ('ES256', 'RS256')),
  -- Seconds.
  ttl        integer not null check (ttl between 60 and 900),
  -- Whether tokens have the roles of the user, and which of the user's claims they have: a JSON array of names.
  roles      boolean not null,
  claims     jsonb not null,
  -- Whether support logins get tokens.
  support    boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Of each algorithm, the key with the latest `signs_since` that has come signs. Keys before it stay published until their last token
-- has expired. One key has no `signs_since`: it is published before it signs.
create table signing_keys (
  -- `kid`
  id          uuid primary key,
  alg         text not null check (alg in ('ES256', 'RS256')),
  -- A JSON Web Key.
  public_key  jsonb not null,
  -- PKCS #8, encrypted with SECRET_KEY.
  private_key bytea not null,
  created_at  timestamptz not null,
  signs_since timestamptz
);
create unique index signing_keys_next on signing_keys (alg) where signs_since is null;
