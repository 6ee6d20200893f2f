-- Which users have a password hash that was not made in today's way, so that a scheme without users is found at once.
-- note_password_schemes stays for instances of the release before, which go on meanwhile.
-- Only this table's statements and the triggers' take locks of writers, for moments: the large reads come before them.

alter table users validate constraint users_id_is_not_reserved;

-- The algorithm and the parameters of a hash, as password_schemes has them; null for today's. Every kind ends with a salt
-- and an output behind a $ each; bcrypt is one text behind its cost, and Django writes PBKDF2 in a form of its own.
create function imported_scheme(hash text) returns text language sql immutable strict parallel safe as $$
  select case
    when hash like '$argon2id$v=19$m=19456,t=2,p=1$%' then null
    when hash like '$2%' then '$2b$' || substr(hash, 5, 2)
    when hash like 'pbkdf2\_sha1$%' then '$pbkdf2$' || split_part(hash, '$', 2)
    when hash like 'pbkdf2\_sha256$%' then '$pbkdf2-sha256$' || split_part(hash, '$', 2)
    else substring(hash from '^(\$.*)\$[^$]*\$[^$]*$')
  end
$$;

create table imported_hashes (
  user_id uuid primary key,
  scheme  text not null
);
create index imported_hashes_by_scheme on imported_hashes (scheme);

insert into imported_hashes (user_id, scheme)
select id, imported_scheme(password_hash) from users
where password_hash is not null and imported_scheme(password_hash) is not null;

create function note_imported_hashes() returns trigger language plpgsql as $$
begin
  insert into imported_hashes (user_id, scheme)
  select id, imported_scheme(password_hash) from added where imported_scheme(password_hash) is not null
  on conflict (user_id) do update set scheme = excluded.scheme;
  return null;
end $$;

create function note_changed_hash() returns trigger language plpgsql as $$
begin
  if imported_scheme(new.password_hash) is null then
    delete from imported_hashes where user_id = old.id;
  else
    insert into imported_hashes (user_id, scheme) values (new.id, imported_scheme(new.password_hash))
    on conflict (user_id) do update set scheme = excluded.scheme;
  end if;
  return null;
end $$;

create function forget_imported_hash() returns trigger language plpgsql as $$
begin
  delete from imported_hashes where user_id = old.id;
  return null;
end $$;

create trigger imported_hashes_of_new_users after insert on users
  referencing new table as added for each statement execute function note_imported_hashes();
create trigger imported_hash_changed after update of password_hash on users for each row
  when (old.password_hash is distinct from new.password_hash
        and coalesce(imported_scheme(old.password_hash), imported_scheme(new.password_hash)) is not null)
  execute function note_changed_hash();
create trigger imported_hash_gone after delete on users for each row
  when (imported_scheme(old.password_hash) is not null) execute function forget_imported_hash();

-- Who was created while the statement above read the table. A hash that was replaced meanwhile leaves a row here that is
-- wrong; drop_unused_schemes looks at the user too.
insert into imported_hashes (user_id, scheme)
select id, imported_scheme(password_hash) from users
where updated_at > (select db_now() - interval '1 hour') and imported_scheme(password_hash) is not null
on conflict do nothing;

-- Removes the schemes that no user has any more. Whoever stores a hash holds its scheme's row, or, for a new scheme, the
-- advisory lock (password-schemes.ts), until commit. This function waits for neither: what is held is in use.
create function drop_unused_schemes(adding_lock bigint) returns integer language plpgsql as $$
declare
  unused text;
  dropped integer := 0;
begin
  if not pg_try_advisory_xact_lock(adding_lock) then
    return 0;
  end if;
  for unused in
    select s.scheme from password_schemes s
    where not exists (select from imported_hashes h join users u on u.id = h.user_id
                      where h.scheme = s.scheme and imported_scheme(u.password_hash) = s.scheme)
    for update of s skip locked
  loop
    -- A statement of its own sees what was committed until the row was held.
    delete from password_schemes s
    where s.scheme = unused
      and not exists (select from imported_hashes h join users u on u.id = h.user_id
                      where h.scheme = unused and imported_scheme(u.password_hash) = unused);
    if found then
      dropped := dropped + 1;
    end if;
  end loop;
  return dropped;
end $$;
