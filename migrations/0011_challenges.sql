-- What self-service begins and an answer completes within minutes: a fresh proof, a new address, a recovery, a
-- registration, a new authenticator. For an identity that names nobody, user_id is its stand-in, as for logins.
create table challenges (
  user_id    uuid not null,
  id         uuid not null,
  -- What it was begun for. An answer counts for nothing else.
  purpose    text not null,
  -- What the answer is checked against and what it brings about: digests, never the secret itself.
  kept       jsonb not null,
  guesses    smallint not null default 0,
  -- The device of the session that began it; null: none did.
  device_id  uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When its answer took effect: once.
  ended_at   timestamptz,
  primary key (user_id, id)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
-- Recoveries and registrations know the id alone.
create index challenges_by_id on challenges (id);
create index challenges_by_expires_at on challenges (expires_at);
