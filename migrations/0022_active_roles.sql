-- Who has a role and a second factor already keeps the role. In a transaction of its own: it reads every user, and holds
-- up nobody meanwhile.
update users u set role_active_since = db_now()
where u.role <> 'user' and u.role_active_since is null
  and (exists (select 1 from totp t where t.user_id = u.id) or exists (select 1 from passkeys p where p.user_id = u.id));
