-- What was added without a look at the rows that there were, is looked at now: under a lock that lets everybody read and
-- write meanwhile.
alter table outbox validate constraint outbox_channel_check;
alter table users validate constraint users_second_factor_check;

-- The login in whose session a factor was enrolled: it has shown the factor by that, as a later login does.
alter table totp add column authentication_id uuid;
alter table passkeys add column authentication_id uuid;
