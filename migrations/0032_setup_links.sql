-- Links that create an operator or a supporter in the console. They belong to no user: the user does not exist yet.
create table setup_links (
  id         uuid primary key,
  -- SHA-256 of the secret.
  digest     bytea not null unique,
  role       text not null check (role in ('support', 'operator')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When a user was created with it, and which: once.
  used_at    timestamptz,
  user_id    uuid
);
create index setup_links_by_expires_at on setup_links (expires_at);
-- Few users have a role. Each start asks whether an operator exists.
create index users_with_a_role on users (role, id) where role <> 'user';
