-- Until then the push fan-out leaves a publication to its turn, because its user already has many pushes. Null: no user of
-- the publication had too many so far.
alter table publications add column due_at timestamptz;

-- Keeps the last hundred former names of a user.
create or replace function note_former_name() returns trigger language plpgsql as $$
begin
  insert into former_names (user_id, until, name)
  values (old.id, db_now(), user_display_name(old.name, old.username, old.email, old.phone))
  on conflict do nothing;
  delete from former_names f
  where f.user_id = old.id
    and f.until < (select kept.until from former_names kept where kept.user_id = old.id
                   order by kept.until desc offset 99 limit 1);
  return null;
end $$;
