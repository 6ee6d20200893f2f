-- The operator's own id of a user. The directory, which finds identities by their digest, keeps it unique.
alter table users add column external_id text;

-- `not valid`: the rows that exist satisfied the narrower check, so that a large table need not be read under a lock.
alter table identities drop constraint identities_type_check;
alter table identities add constraint identities_type_check
  check (type in ('email', 'phone', 'username', 'external_id')) not valid;
