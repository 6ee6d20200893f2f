-- Logins of operators as a user. The former release goes on working beside this one: it neither reads nor writes the table, and
-- inserts the defaults of the columns.
create table support_logins (
  user_id     uuid not null,
  -- Also the id of the login in `authentications`, and of its device, which has no row.
  id          uuid not null,
  operator_id uuid not null,
  reason      text not null,
  -- Whether the login may change something. Not every change, see src/http/plugins/support-rights.ts.
  can_write   boolean not null,
  -- users.epoch at the request: a logout on all devices ends what waits for an answer, too.
  epoch       integer not null,
  created_at  timestamptz not null,
  -- When the request ends, until it is allowed. Then when the login ends.
  expires_at  timestamptz not null,
  -- When the user has allowed it, or when it was made if nobody was asked. Null: the user has not answered.
  allowed_at  timestamptz,
  -- When the operator got the token.
  issued_at   timestamptz,
  -- When the user refused it, or somebody ended it. A logout with its token is in `authentications`.
  ended_at    timestamptz,
  is_refused  boolean not null default false,
  primary key (user_id, id)
);
create index support_logins_by_operator on support_logins (operator_id) where ended_at is null;
create index support_logins_by_created_at on support_logins (created_at);

-- The operator who uses the login as the user, and whether it may change something. Null: the login is the user's own.
alter table authentications add column acting_operator uuid, add column acting_writes boolean;

-- The former release would take a support login for a login of the user's own, so nobody gets its token while a process of it runs.
alter table instances add column knows_support_logins boolean not null default false;

-- Support logins end with the rights of their operator, and when their user gets a role, a lock, or is deactivated. A trigger, so that
-- a change by hand in SQL counts too.
create function end_support_logins() returns trigger language plpgsql as $$
declare
  ended record;
begin
  -- A statement of its own for each login: the first one may have waited for an operator who got the token meanwhile.
  for ended in
    update support_logins s set ended_at = db_now()
    where (s.operator_id = old.id or s.user_id = old.id) and s.ended_at is null
    returning s.user_id, s.id
  loop
    update authentications a set ended_at = db_now(), updated_at = db_now()
    where a.user_id = ended.user_id and a.id = ended.id and a.ended_at is null;
  end loop;
  return null;
end $$;
-- A lock that has run out keeps its kind, so the next one may differ in its time only.
create trigger support_logins_of_user
  after update of role, role_active_since, status, lock_kind, locked_until, epoch on users
  for each row when (
    (old.role, old.status, old.lock_kind, old.locked_until)
      is distinct from (new.role, new.status, new.lock_kind, new.locked_until)
    or old.role <> 'user' and (old.role_active_since, old.epoch) is distinct from (new.role_active_since, new.epoch))
  execute function end_support_logins();
create trigger support_logins_of_deleted_role after delete on users
  for each row when (old.role <> 'user') execute function end_support_logins();
alter table users enable always trigger support_logins_of_user, enable always trigger support_logins_of_deleted_role;

-- The login of an operator as the user is no login of the user: the user's first login gets no notice about a new device.
create or replace function was_logged_in(for_user uuid, new_device uuid, new_login uuid) returns boolean language plpgsql as $$
begin
  return exists (select 1 from devices d where d.user_id = for_user and d.id <> new_device)
      or exists (select 1 from authentications a
                 where a.user_id = for_user and a.id <> new_login and a.status = 'approved' and a.acting_operator is null);
end $$;
