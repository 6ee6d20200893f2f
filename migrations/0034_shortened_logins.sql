-- A login that ends earlier than before ends its sessions at the same time, also after a change by hand in SQL: a check of a session
-- reads the end of the session only. A statement that shortens many logins at once ends their sessions itself, and says so in
-- postern.ends_sessions: the trigger reads all sessions of the user for each login.
create function end_sessions_with_login() returns trigger language plpgsql as $$
begin
  update sessions set expires_at = least(new.expires_at, new.idle_expires_at)
  where user_id = new.user_id and authentication_id = new.id and expires_at > least(new.expires_at, new.idle_expires_at);
  return null;
end $$;
create trigger sessions_end_with_login after update of expires_at, idle_expires_at on authentications
  for each row when (old.status = 'approved' and old.ended_at is null
                     and least(new.expires_at, new.idle_expires_at) < least(old.expires_at, old.idle_expires_at)
                     and current_setting('postern.ends_sessions', true) is distinct from 'on')
  execute function end_sessions_with_login();

-- The same for access tokens. A token lasts at most 15 minutes.
create or replace trigger revocation_of_authentication
  after update of user_id, id, status, ended_at, expires_at, idle_expires_at on authentications
  for each row when (old.status = 'approved' and old.ended_at is null and old.first_used_at is not null and (
    new.ended_at is not null or new.status <> 'approved' or (new.user_id, new.id) <> (old.user_id, old.id)
    or (least(new.expires_at, new.idle_expires_at) < least(old.expires_at, old.idle_expires_at)
        and least(new.expires_at, new.idle_expires_at) < db_now() + interval '15 minutes')))
  execute function revocation_of_authentication();

-- Also for rows that are replicated into these tables, and with session_replication_role = replica.
alter table authentications enable always trigger sessions_end_with_login, enable always trigger revocation_of_authentication;
