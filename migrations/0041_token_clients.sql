-- The clients that use a token without a key: if two take turns, somebody may have copied it. Only a change of the client
-- writes these columns, so a client that stays the same costs nothing.
alter table authentications
  -- The first 8 bytes of the SHA-256 of the last client's User-Agent, and the network of its address.
  add column client_agent bigint,
  add column client_network text,
  -- The User-Agent of the client before the last one that had another network too.
  add column former_agent bigint;
