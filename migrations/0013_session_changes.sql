-- Whose sessions stopped holding, and in which transaction: what a process remembers of sessions that it has checked is
-- forgotten by this. Rows leave a minute or two later; `session_changes_floor` says which may be gone.
-- Written by triggers: a change of these rows counts however it is made, by an older release or by hand too. They write
-- beside the row that is changed, for its user alone.
-- Unlogged, as is their floor: after a crash both are empty, for then numbers of transactions that never reached the log are
-- given out again, and what was seen before tells nothing of what comes.
create unlogged table session_changes (
  user_id uuid not null,
  xid     xid8 not null default pg_current_xact_id(),
  primary key (xid, user_id)
)
-- Small, and all of it is new every few minutes.
with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
      autovacuum_analyze_threshold = 1000, autovacuum_analyze_scale_factor = 0);

create unlogged table session_changes_floor (
  -- Changes of transactions before this one may be gone.
  floor      xid8 not null,
  -- What it becomes next.
  next_floor xid8 not null,
  -- Which run of the server, from crash to crash, the numbers are of.
  run        uuid not null default gen_random_uuid(),
  only_one   boolean primary key default true check (only_one)
);
insert into session_changes_floor (floor, next_floor)
  select now.xmin, now.xmin from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) now;

-- The name of the column that holds the user's id is the trigger's argument.
create function note_session_change() returns trigger language plpgsql as $$
begin
  if tg_argv[0] = 'id' then
    insert into session_changes (user_id) values (old.id) on conflict do nothing;
  else
    insert into session_changes (user_id) values (old.user_id) on conflict do nothing;
  end if;
  return null;
end $$;

-- What checks of sessions read, and only while it lets sessions hold: nobody remembers the others.
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

-- Rows of everybody at once have no notes: what is known of any run before is forgotten.
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

-- Also for what is replicated into these tables, and for who works with session_replication_role = replica.
alter table users enable always trigger session_change_of_user, enable always trigger session_change_by_user_gone,
  enable always trigger session_change_by_users_emptied;
alter table authentications enable always trigger session_change_of_authentication,
  enable always trigger session_change_by_authentication_gone, enable always trigger session_change_by_authentications_emptied;
alter table sessions enable always trigger session_change_of_session, enable always trigger session_change_by_session_gone,
  enable always trigger session_change_by_sessions_emptied;
