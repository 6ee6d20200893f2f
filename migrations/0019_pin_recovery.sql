-- A PIN that a code has recovered replaces the one on file only at `next_pin_at`; until then it can be cancelled. All
-- `next_pin_…` are null where none waits. No default and no validation: nothing in the table is read or written.
alter table users
  add column next_pin_hash   text,
  add column next_pin_since  timestamptz,
  add column next_pin_at     timestamptz,
  -- Keyed digest of the code that cancels it without a session.
  add column next_pin_cancel bytea,
  -- Until then only the PIN changes the PIN: a code has set a password or a passkey that would change it at once.
  add column pin_guarded_until timestamptz,
  add constraint users_next_pin_check
    check (num_nulls(next_pin_hash, next_pin_since, next_pin_at, next_pin_cancel) in (0, 4)) not valid;
