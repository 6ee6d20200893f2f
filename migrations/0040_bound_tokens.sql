-- A token that is bound to a key of the client works only with a DPoP proof (RFC 9449) that this key has signed.
alter table authentications
  -- The thumbprint of the key (RFC 7638), in base64url. Null: the token is not bound.
  add column key_thumbprint text,
  -- When a misuse of the token was last reported to its user.
  add column misuse_reported_at timestamptz;

-- Used proofs, so that none is accepted twice. A row is needed for as long as the nonce of its proof is valid.
create table used_proofs (
  user_id uuid not null,
  -- SHA-256 of the key's thumbprint and the `jti` of the proof.
  digest  bytea not null,
  used_at timestamptz not null,
  primary key (user_id, digest)
);
create index used_proofs_by_used_at on used_proofs (used_at);
alter table used_proofs set (autovacuum_vacuum_scale_factor = 0.05);
