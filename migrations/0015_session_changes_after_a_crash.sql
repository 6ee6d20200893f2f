-- What 0013 makes today. Its first release made logged tables, no name of the run, and triggers that a replica skips.
-- Nothing is done where that is so already. Both tables are small.

-- In the order of whoever writes notes: first what changes, then its note. The other way round they would deadlock.
lock table users, authentications, sessions in share row exclusive mode;

-- After a crash the notes of changes and their floor are empty: then numbers of transactions that never reached the log are
-- given out again, and what was seen before tells nothing of what comes.
alter table session_changes set unlogged;
alter table session_changes_floor set unlogged;
-- Which run of the server, from crash to crash, the numbers are of.
alter table session_changes_floor add column if not exists run uuid not null default gen_random_uuid();

-- Rows of everybody at once have no notes: what is known of any run before is forgotten.
create or replace function note_every_session_change() returns trigger language plpgsql as $$
begin
  update session_changes_floor set run = gen_random_uuid();
  return null;
end $$;
create or replace trigger session_change_by_users_emptied after truncate on users
  for each statement execute function note_every_session_change();
create or replace trigger session_change_by_authentications_emptied after truncate on authentications
  for each statement execute function note_every_session_change();
create or replace trigger session_change_by_sessions_emptied after truncate on sessions
  for each statement execute function note_every_session_change();

-- Also for what is replicated into these tables, and for who works with session_replication_role = replica.
alter table users enable always trigger session_change_of_user, enable always trigger session_change_by_user_gone,
  enable always trigger session_change_by_users_emptied;
alter table authentications enable always trigger session_change_of_authentication,
  enable always trigger session_change_by_authentication_gone, enable always trigger session_change_by_authentications_emptied;
alter table sessions enable always trigger session_change_of_session, enable always trigger session_change_by_session_gone,
  enable always trigger session_change_by_sessions_emptied;
