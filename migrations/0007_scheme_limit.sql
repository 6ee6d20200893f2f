-- Notes ways of hashing, up to so many in all, and gives those for which there was no room. Two that note at a time do so
-- one after the other; who reads the list, as every failed login does, does not wait for them.
create function note_password_schemes(noted text[], most integer) returns text[] language plpgsql as $$
begin
  if not exists (select from unnest(noted) as new (scheme) where new.scheme not in (select scheme from password_schemes)) then
    return '{}';
  end if;
  lock table password_schemes in share row exclusive mode;
  insert into password_schemes (scheme)
  select scheme
  from unnest(noted) with ordinality as new (scheme, place)
  where scheme not in (select scheme from password_schemes)
  group by scheme
  order by min(place)
  limit greatest(0, most - (select count(*) from password_schemes));
  return array(select distinct new.scheme from unnest(noted) as new (scheme)
               where new.scheme not in (select scheme from password_schemes));
end $$;
