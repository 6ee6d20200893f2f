-- One expensive list must not take the cores of others. Without this, PostgreSQL reads a large inbox with up to three
-- processes at once.
alter table notifications set (parallel_workers = 0);
