-- When a login on the device was last approved; updated_at also moves when the device is described anew.
alter table devices add column last_login_at timestamptz;
update devices set last_login_at = updated_at;
alter table devices alter column last_login_at set not null;
