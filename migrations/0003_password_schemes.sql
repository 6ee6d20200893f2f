-- How imported passwords are hashed where that is not today's way: a failed login does the work of each, so that the
-- time does not tell which one an account has.
create table password_schemes (
  scheme text primary key
);
