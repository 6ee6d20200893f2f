-- When each secret key became the current one. Digests do not name their key: those that are newer than the current key
-- were made with it. The id of a key does not reveal it.
create table secret_keys (
  id            text primary key,
  current_since timestamptz not null
);
