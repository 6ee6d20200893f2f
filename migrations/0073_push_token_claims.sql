-- In the directory, with SHARDS: push tokens that a device has claimed and that a job still removes from the devices on the
-- other servers. The claim that is last has the row.
create table push_token_claims (
  -- SHA-256 of the channel and the token.
  digest bytea primary key,
  claim  uuid not null
);
