-- Whether somebody has proven the mail address and the phone number of a user with a code, or an operator vouches for them.
-- Postern sends codes and notices only to proven addresses. The addresses that users already have count as proven.
-- The last release goes on working beside this one: what it inserts has the default.
alter table users
  add column email_verified boolean not null default true,
  add column phone_verified boolean not null default true,
  -- Whether the user has logged in with a code to an address that was proven and then removed or changed. Together with
  -- the logins of the addresses that are still there, it refuses a recovery through an unproven address.
  add column had_address_login boolean not null default false;
