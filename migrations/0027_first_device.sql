-- Whether a user was logged in before a login that is being approved: on another device, or on one that was removed since,
-- while a login on it is on record.
-- A function, because it sees what was committed until it is called. The statement that approves sees only what was
-- committed until it began: of two first logins at the same time each would take itself for the first. It is called after
-- the guess is settled, and first logins of a user settle their guesses on the same row, one after the other.
create function was_logged_in(for_user uuid, new_device uuid, new_login uuid) returns boolean language plpgsql as $$
begin
  return exists (select 1 from devices d where d.user_id = for_user and d.id <> new_device)
      or exists (select 1 from authentications a
                 where a.user_id = for_user and a.id <> new_login and a.status = 'approved');
end $$;
