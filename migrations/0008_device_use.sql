-- When a device was last used, as far as its removed sessions show: the task that removes expired sessions writes it. While
-- the sessions of a device are stored, they show its last use. Null: no session of the device was removed yet.
alter table devices add column last_used_at timestamptz;
