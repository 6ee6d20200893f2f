-- A row of session_changes_floor that is restored from a dump names a run whose notes were not restored, or no longer are.
-- So an insert starts a new run. A restore can disable triggers too: then `written_by` does not match the transaction that
-- wrote the row, no session check trusts the row, and its next update starts a new run.
alter table session_changes_floor add column written_by xid8;

create function sign_session_changes_floor() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' or not exists (select from session_changes_floor where xmin = written_by::xid) then
    new.run := gen_random_uuid();
  end if;
  new.written_by := pg_current_xact_id();
  return new;
end $$;
create trigger session_changes_floor_signed before insert or update on session_changes_floor
  for each row execute function sign_session_changes_floor();
alter table session_changes_floor enable always trigger session_changes_floor_signed;

-- Signs the row that is there.
update session_changes_floor set run = gen_random_uuid();
