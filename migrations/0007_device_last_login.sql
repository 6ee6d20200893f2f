-- When a login on the device was last approved; updated_at also moves when the device is described anew.
alter table devices add column last_login_at timestamptz not null default db_now();
update devices set last_login_at = updated_at;
