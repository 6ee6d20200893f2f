-- When a login ends if it is not used until then (IDLE_TTL). Each use moves it. Null: the login has no idle limit. The former
-- release neither reads nor writes it.
alter table authentications add column idle_expires_at timestamptz;

-- The session that this one replaces after a re-authentication, until this one is first used. Then the former session is deleted.
-- The former release does not read it: there the former session ends by its own time, a minute later.
alter table sessions add column replaces uuid;

-- A change of users.epoch ends every login of the user, except one that the same statement has moved to the new epoch. Then the
-- others have ended one by one, and have an event each.
create or replace function webhook_of_row() returns trigger language plpgsql as $$
begin
  if not exists (select from webhook_endpoints) then return null; end if;
  if tg_argv[0] = 'device.added' then
    insert into webhook_outbox (created_at, type, user_ids, data)
    values (db_now(), 'device.added', array[new.user_id], jsonb_build_object('device_id', new.id));
  elsif tg_argv[0] = 'token.ended' then
    insert into webhook_outbox (created_at, type, user_ids, data)
    values (db_now(), 'token.ended', array[new.user_id],
            jsonb_build_object('authentication_id', new.id, 'device_id', new.device_id));
  elsif not exists (select from authentications where user_id = new.id and epoch = new.epoch) then
    insert into webhook_outbox (created_at, type, user_ids, data)
    values (db_now(), 'token.ended', array[new.id], jsonb_build_object('authentication_id', null, 'device_id', null));
  end if;
  return null;
end $$;
