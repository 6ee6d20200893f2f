-- Whether an operator has set the password for one use: a login with it asks for a new password. With a default that is no
-- expression, PostgreSQL writes no row.
alter table users add column must_change boolean not null default false;
