-- Takes no lock that would block reads or writes.
alter table outbox validate constraint outbox_state_check;
