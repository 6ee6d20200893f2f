-- In a transaction of its own: it reads the whole table, and logins go on meanwhile.
-- Locks that hold now. Nothing is counted while an account is locked: the last change was the lock.
update guess_budgets b set locked_at = b.updated_at, is_user = exists (select 1 from users u where u.id = b.user_id)
where b.permanent or b.locked_until > db_now();
