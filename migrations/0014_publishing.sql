-- Up to which block `inbox_blocks` counts. A block is counted once, when it is full, and not with each notification: what
-- lies in the blocks from this one on is found row by row. Null: whatever there is has been counted, by an earlier version
-- or because there is nothing.
alter table inboxes add column counted_blocks bigint;

-- One index less to write for each notification. The id alone finds a row as well (notifications_by_id), and a user's
-- numbers are unique. No row is read for this: the index is there, and its columns are not null.
alter table notifications drop constraint notifications_pkey;
alter table notifications
  add constraint notifications_by_sequence primary key using index notifications_by_sequence;
