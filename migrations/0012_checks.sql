-- What was added without a look at the rows that there were, is looked at now: under a lock that lets everybody read and
-- write meanwhile.
alter table outbox validate constraint outbox_channel_check;
alter table users validate constraint users_second_factor_check;
