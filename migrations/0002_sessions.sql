-- Sessions, API keys, and the records that let a process cache sessions that it has checked.

-- Short-lived: the app exchanges the token of a login for a session, and renews it. A check of a session joins it with its
-- login and its user, so a change of any of the three rows ends it.
create table sessions (
  user_id           uuid not null,
  id                uuid not null,
  authentication_id uuid not null,
  device_id         uuid not null,
  -- SHA-256 of the session token.
  token_digest      bytea not null,
  created_at        timestamptz not null,
  expires_at        timestamptz not null,
  -- When the user last re-authenticated in this session. Privileged requests need a recent time.
  proven_at         timestamptz,
  primary key (user_id, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Used proofs of tokens that are bound to a key, so that none is accepted twice. A row is needed as long as the nonce of
-- its proof is valid.
create table used_proofs (
  user_id uuid not null,
  -- SHA-256 of the key's thumbprint and the `jti` of the proof.
  digest  bytea not null,
  used_at timestamptz not null,
  primary key (user_id, digest)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index used_proofs_by_used_at on used_proofs (used_at);

-- The keys of the app's servers and of operators' programs.
create table api_keys (
  id           uuid primary key,
  name         text not null,
  scopes       text[] not null,
  -- SHA-256 of the key.
  token_digest bytea not null,
  expires_at   timestamptz,
  last_used_at timestamptz,
  revoked_at   timestamptz,
  created_at   timestamptz not null
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Changes of sessions
-- ---------------------------------------------------------------------------------------------------------------------

-- The users whose sessions have stopped to be valid, and in which transaction. Each process caches sessions that it has
-- checked. Each of its queries reads the records that its last query could not see, and the process then forgets the
-- sessions of these users. Triggers write the records, so a change by hand in SQL counts too. They write only the row of
-- the user whose row was changed.
-- A maintenance task deletes records after a minute or two. session_changes_floor says which may be gone.
-- Both tables are unlogged: they are empty after a crash, because PostgreSQL then assigns numbers of transactions again that
-- it had not written to disk.
create unlogged table session_changes (
  user_id uuid not null,
  xid     xid8 not null default pg_current_xact_id(),
  primary key (xid, user_id)
)
-- Small, and all of it is new every few minutes.
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
      autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0);

-- One row.
create unlogged table session_changes_floor (
  -- Records of transactions before this one may be gone.
  floor      xid8 not null,
  -- The next value of `floor`.
  next_floor xid8 not null,
  -- Changes when the numbers of transactions mean other transactions, or when records may be missing: after a crash, a
  -- restore, or a truncate. Each process then forgets all sessions.
  run        uuid not null default gen_random_uuid(),
  only_one   boolean primary key default true check (only_one),
  -- The transaction that wrote this row. If it does not match, triggers were disabled during a restore: no check trusts the
  -- row, and its next update starts a new run.
  written_by xid8
);

-- A row that is restored from a dump names a run whose records were not restored, so an insert starts a new run.
create function sign_session_changes_floor() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' or not exists (select from session_changes_floor where xmin = written_by::xid) then
    new.run := gen_random_uuid();
  end if;
  new.written_by := pg_current_xact_id();
  return new;
end $$;
create trigger session_changes_floor_signed before insert or update on session_changes_floor
  for each row execute function sign_session_changes_floor();

insert into session_changes_floor (floor, next_floor)
  select now.xmin, now.xmin from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) now;

-- The argument of the trigger is 'id' if this column holds the user's id.
create function note_session_change() returns trigger language plpgsql as $$
begin
  if tg_argv[0] = 'id' then
    insert into session_changes (user_id) values (old.id) on conflict do nothing;
  else
    insert into session_changes (user_id) values (old.user_id) on conflict do nothing;
  end if;
  return null;
end $$;

-- The columns are those that a check of a session reads. The conditions hold while the row allows sessions to be valid: no
-- process caches other sessions.
create trigger session_change_of_user after update of id, status, epoch, lock_kind, locked_until on users
  for each row when (old.status = 'active') execute function note_session_change('id');
create trigger session_change_by_user_gone after delete on users
  for each row when (old.status = 'active') execute function note_session_change('id');

create trigger session_change_of_authentication
  after update of user_id, id, status, ended_at, epoch on authentications
  for each row when (old.status = 'approved' and old.ended_at is null) execute function note_session_change();
create trigger session_change_by_authentication_gone after delete on authentications
  for each row when (old.status = 'approved' and old.ended_at is null and old.expires_at > db_now())
  execute function note_session_change();

create trigger session_change_of_session
  after update of user_id, id, authentication_id, device_id, token_digest, created_at, expires_at on sessions
  for each row execute function note_session_change();
create trigger session_change_by_session_gone after delete on sessions
  for each row when (old.expires_at > db_now()) execute function note_session_change();

-- A truncate has no rows to record: a new run starts.
create function note_every_session_change() returns trigger language plpgsql as $$
begin
  update session_changes_floor set run = gen_random_uuid();
  return null;
end $$;
create trigger session_change_by_users_emptied after truncate on users
  for each statement execute function note_every_session_change();
create trigger session_change_by_authentications_emptied after truncate on authentications
  for each statement execute function note_every_session_change();
create trigger session_change_by_sessions_emptied after truncate on sessions
  for each statement execute function note_every_session_change();

-- Also for rows that are replicated into these tables, and with session_replication_role = replica.
alter table session_changes_floor enable always trigger session_changes_floor_signed;
alter table users enable always trigger session_change_of_user, enable always trigger session_change_by_user_gone,
  enable always trigger session_change_by_users_emptied;
alter table authentications enable always trigger session_change_of_authentication,
  enable always trigger session_change_by_authentication_gone, enable always trigger session_change_by_authentications_emptied;
alter table sessions enable always trigger session_change_of_session, enable always trigger session_change_by_session_gone,
  enable always trigger session_change_by_sessions_emptied;
