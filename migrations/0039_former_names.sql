-- The former names of users, so that the audit trail shows an event with the name that the user had at its time. Only
-- superseded names are stored: a user who was never renamed has no row, and a login reads and writes none.
create table former_names (
  user_id uuid not null,
  -- The name was in use until this time.
  until   timestamptz not null,
  name    text not null,
  primary key (user_id, until)
);

-- How operators call a user: the first of these that is given.
create function user_display_name(name text, username text, email text, phone text) returns text
  language sql immutable parallel safe
  return coalesce(nullif(name, ''), username, email, phone);

-- A trigger, so that a change by hand is recorded too.
create function note_former_name() returns trigger language plpgsql as $$
begin
  insert into former_names (user_id, until, name)
  values (old.id, db_now(), user_display_name(old.name, old.username, old.email, old.phone))
  on conflict do nothing;
  return null;
end $$;

create trigger former_name_of_user after update of name, username, email, phone on users
  for each row when (
    user_display_name(old.name, old.username, old.email, old.phone)
      is distinct from user_display_name(new.name, new.username, new.email, new.phone)
    and user_display_name(old.name, old.username, old.email, old.phone) is not null)
  execute function note_former_name();
