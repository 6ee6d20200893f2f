-- A role takes effect only through an enrolment link. A table of its own for each file: sessions are not held meanwhile.
alter table users
  -- Since when the role takes effect: since its holder enrolled a second factor through a link. Null: it does not.
  add column role_active_since timestamptz,
  -- SHA-256 of that link's secret, which is used once. A further link replaces it.
  add column role_link_digest bytea,
  add column role_link_expires_at timestamptz;
