-- When a fresh proof was last recorded for a session: what it opens up to administration has an age.
alter table sessions add column proven_at timestamptz;
