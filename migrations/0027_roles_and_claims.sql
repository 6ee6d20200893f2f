-- The app's own roles and claims of users. The role of operators is the column `role`. Both are JSON, as the API has them: an
-- array of different texts in their order, and an object. The last release goes on working beside this one: it inserts the defaults,
-- which are constants, so PostgreSQL writes no row.
alter table users
  add column roles jsonb not null default '[]',
  add column claims jsonb not null default '{}';

-- A check of a session shows both, so no process may go on using a session that it cached before they changed.
create or replace trigger session_change_of_user
  after update of id, status, epoch, lock_kind, locked_until, roles, claims on users
  for each row when (old.status = 'active') execute function note_session_change('id');
alter table users enable always trigger session_change_of_user;

-- The smallest of a limit (`name`) in the policies of the role of a user and of the user's roles of the app; null if none has one. It is a
-- function because few users have such roles: in the text of a statement, each use of it would cost time for all users.
create function smallest_limit(policies jsonb, role text, app_roles jsonb, name text) returns float8
  language sql immutable parallel safe
  return (select min((policies -> held.role ->> name)::float8)
          from (select smallest_limit.role union all select jsonb_array_elements_text(app_roles)) held (role));
