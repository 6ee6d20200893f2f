-- No user has the id of all zeros: events that concern no user are stored under it.
do $$ begin
  if exists (select from users where id = '00000000-0000-0000-0000-000000000000') then
    raise exception 'a user has the reserved id 00000000-0000-0000-0000-000000000000 and can read events of API keys: '
      'start the release that you ran before, send DELETE /admin/v1/users/00000000-0000-0000-0000-000000000000, '
      'then start this release again';
  end if;
end $$;

-- New rows are checked from now on. The next migration checks the old rows: that reads the whole table,
-- and must not happen under the lock of this one.
alter table users
  add constraint users_id_is_not_reserved check (id <> '00000000-0000-0000-0000-000000000000') not valid;
