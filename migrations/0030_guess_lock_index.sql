-- The locks of users by their end, to find the users that are locked now, however many users there are and however many
-- identities that name nobody are locked.
create index guess_budgets_by_lock_end on guess_budgets
  (is_user, (case when permanent then 'infinity' else locked_until end)) where permanent or locked_until is not null;
