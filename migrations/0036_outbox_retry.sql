-- Messages by their id alone, to retry one, and the failed ones by time. Messages are kept for 30 days.
create index outbox_by_id on outbox (id);
create index outbox_failed on outbox (created_at, id) where state = 'failed';
