-- Users, what identifies them, what they prove at a login, and the logins.
--
-- Rules of the whole schema:
-- - The keys and unique constraints of a user's rows begin with user_id: every frequent statement names one user. Tables
--   without a user, such as api_keys, have keys of their own. Where a request has only an id, an index on the id finds the
--   row.
-- - There are no foreign keys and no sequences. The statements that write rows keep the rules, and rows of a deleted user
--   are removed in small batches (job `user.erase`).
-- - A trigger only records what every change must record, also a change that somebody makes by hand in SQL.
-- - A rule that reads, decides and writes under one lock is a function.
-- - Statements read the time with db_now(). A statement that decides about rights reads it after it has its locks.
-- - A row stores its state, such as used or rejected. Only whether it has expired is computed at each read. So if the clock
--   is set back, a used or rejected row does not become valid again.
-- - Secrets are stored as digests (tokens), slow hashes (passwords, PINs) or ciphertext (codes).
--
-- Storage parameters: a table whose rows come and go or change all the time is vacuumed earlier than by default. Room on
-- its pages (fillfactor) keeps an update of columns without an index from writing the indexes.

-- The one clock that decides about rights. It is a function so that tests can set the time.
create function db_now() returns timestamptz language sql volatile as $$ select clock_timestamp() $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Users
-- ---------------------------------------------------------------------------------------------------------------------

create table users (
  -- Events and webhook events that concern no user have the id of all zeros, so no user has it.
  id            uuid primary key constraint users_id_is_not_reserved check (id <> '00000000-0000-0000-0000-000000000000'),
  -- What answers show. A login finds the user in `identities`, never by these columns.
  username      text,
  email         text,
  phone         text,
  name          text not null default '',
  locale        text,
  status        text not null default 'active' check (status in ('active', 'deactivated')),
  role          text not null default 'user' check (role in ('user', 'support', 'operator')),
  -- An operator's lock. 'temporary' ends at locked_until, 'permanent' when an operator ends it. Locks after too many wrong
  -- secrets are in guess_budgets.
  lock_kind     text check (lock_kind in ('temporary', 'permanent')),
  locked_until  timestamptz,
  lock_reason   text,
  -- Each login stores the value that the counter had when the login began. A higher value ends all earlier logins of the
  -- user with one row written.
  epoch         integer not null default 0,
  password_hash text,
  pin_hash      text,
  -- The app's own data about the user.
  metadata      jsonb not null default '{}',
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  -- When this user needs a second factor. Null: as the role or the configuration says.
  second_factor text check (second_factor in ('off', 'own', 'required')),
  -- A recovered PIN. It replaces pin_hash only at next_pin_at (job `user.next_pin`, or the next login), and can be cancelled
  -- until then. All four are null if none waits.
  next_pin_hash   text,
  next_pin_since  timestamptz,
  next_pin_at     timestamptz,
  -- Keyed digest of the code that cancels it without a session.
  next_pin_cancel bytea,
  -- Until then only the PIN changes the PIN: a code has set a password or a passkey, which could change it at once.
  pin_guarded_until timestamptz,
  -- Since when the role is in effect: since the user enrolled or proved a second factor through an enrolment link. Null:
  -- it is not in effect.
  role_active_since    timestamptz,
  -- SHA-256 of the secret in that link. It works once, and a further link replaces it.
  role_link_digest     bytea,
  role_link_expires_at timestamptz,
  -- The operator's own id of the user. `identities` keeps it unique.
  external_id   text,
  constraint users_next_pin_check check (num_nulls(next_pin_hash, next_pin_since, next_pin_at, next_pin_cancel) in (0, 4))
);
-- The orders of the list of users.
create index users_by_created_at on users (created_at, id);
create index users_by_updated_at on users (updated_at, id);
-- Few users have a role, a lock, or are deactivated, so these indexes are small. Filters of the list use them. Each start
-- asks whether an operator exists.
create index users_with_a_role on users (role, id) where role <> 'user';
create index users_with_lock on users (created_at, id) where lock_kind is not null;
create index users_deactivated on users (created_at, id) where status = 'deactivated';
-- The index of searches, users_by_search_text, needs the extension pg_trgm, which not every role may install. So
-- src/database/late-indexes.ts creates it.

-- Who has an identity. The key is a digest of type and canonical value, because a login does not know the user yet. It
-- makes identities unique.
create table identities (
  digest    bytea primary key,
  user_id   uuid not null,
  type      text not null check (type in ('email', 'phone', 'username', 'external_id')),
  canonical text not null
);
create index identities_by_user on identities (user_id);

-- Accounts at OpenID providers with which users log in. The digest is that of issuer and subject, never of a mail address.
create table external_identities (
  digest     bytea primary key,
  user_id    uuid not null,
  id         uuid not null,
  -- The name of the provider in OIDC_PROVIDERS when the account was linked.
  provider   text not null,
  issuer     text not null,
  subject    text not null,
  created_at timestamptz not null
);
create index external_identities_by_user on external_identities (user_id, created_at);

-- Addresses that accept a fixed code in logins until they expire, for the reviewers of app stores.
create table test_identities (
  id             uuid primary key,
  -- The key of the identity in `identities`.
  digest         bytea not null unique,
  type           text not null check (type in ('email', 'phone')),
  canonical      text not null,
  -- The user who had the identity when it was created: no other user can use the fixed code. Null: nobody had it.
  user_id        uuid,
  encrypted_code bytea not null,
  expires_at     timestamptz not null,
  created_by     text not null,
  created_at     timestamptz not null
);
create index test_identities_by_created_at on test_identities (created_at, id);
create index test_identities_by_expires_at on test_identities (expires_at);
create index test_identities_by_user on test_identities (user_id);

-- The former names of users, so that the audit trail shows an event with the name that the user had at its time. A user
-- who was never renamed has no row.
create table former_names (
  user_id uuid not null,
  -- The name was in use until this time.
  until   timestamptz not null,
  name    text not null,
  primary key (user_id, until)
);

-- How operators call a user: the first of these values that is given.
create function user_display_name(name text, username text, email text, phone text) returns text
  language sql immutable parallel safe
  return coalesce(nullif(name, ''), username, email, phone);

create function note_former_name() returns trigger language plpgsql as $$
begin
  insert into former_names (user_id, until, name)
  values (old.id, db_now(), user_display_name(old.name, old.username, old.email, old.phone))
  on conflict do nothing;
  return null;
end $$;

create trigger former_name_of_user after update of name, username, email, phone on users
  for each row when (
    user_display_name(old.name, old.username, old.email, old.phone)
      is distinct from user_display_name(new.name, new.username, new.email, new.phone)
    and user_display_name(old.name, old.username, old.email, old.phone) is not null)
  execute function note_former_name();

-- Links that create an operator or a supporter in the console. They belong to no user: the user does not exist yet.
create table setup_links (
  id         uuid primary key,
  -- SHA-256 of the secret in the link.
  digest     bytea not null unique,
  role       text not null check (role in ('support', 'operator')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When a user was created with it, and which one. A link works once.
  used_at    timestamptz,
  user_id    uuid
);
create index setup_links_by_expires_at on setup_links (expires_at);

-- ---------------------------------------------------------------------------------------------------------------------
-- Devices
-- ---------------------------------------------------------------------------------------------------------------------

-- The devices on which a login of the user was approved. The app chooses the id.
create table devices (
  user_id          uuid not null,
  id               uuid not null,
  make             text,
  model            text,
  os_name          text,
  os_version       text,
  sdk_version      text,
  -- Where push services reach the app on the device.
  apn_device_token text,
  gcm_device_token text,
  screen_width     text,
  screen_height    text,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  -- When a login on the device was last approved. A new description of the device changes only updated_at.
  last_login_at    timestamptz not null default db_now(),
  -- The browser's PushSubscription: {"endpoint", "keys": {"p256dh", "auth"}}.
  web_push_subscription jsonb,
  primary key (user_id, id)
);
-- A search for the id of a device.
create index devices_by_id on devices (id);
-- Hash indexes, because the tokens are long and are only compared for equality.
create index devices_by_apn_device_token on devices using hash (apn_device_token);
create index devices_by_gcm_device_token on devices using hash (gcm_device_token);
create index devices_by_web_push_endpoint on devices using hash ((web_push_subscription->>'endpoint'));

-- Gives a device the tokens that are not null, and takes them from every other device: a phone with a new owner must not
-- get notifications of its former owner. Claims of one token run one after the other, so that only the last one has it.
-- All claims lock the kinds of tokens in one order, and then the rows in the order of their keys, so that no two claims
-- wait for each other.
-- Returns null if the device does not exist, and false if it had all tokens before.
create function claim_push_tokens(for_user uuid, for_device uuid, apn text, gcm text, web jsonb)
returns boolean language plpgsql as $$
declare
  had devices;
begin
  perform pg_advisory_xact_lock(hashtextextended('apn ' || apn, 0)) where apn is not null;
  perform pg_advisory_xact_lock(hashtextextended('gcm ' || gcm, 0)) where gcm is not null;
  perform pg_advisory_xact_lock(hashtextextended('web ' || (web->>'endpoint'), 0)) where web is not null;

  perform from devices
  where (user_id, id) = (for_user, for_device) or apn_device_token = apn or gcm_device_token = gcm
    or web_push_subscription->>'endpoint' = web->>'endpoint'
  order by user_id, id for update;

  update devices set apn_device_token = null
  where apn_device_token = apn and (user_id, id) <> (for_user, for_device);
  update devices set gcm_device_token = null
  where gcm_device_token = gcm and (user_id, id) <> (for_user, for_device);
  update devices set web_push_subscription = null
  where web_push_subscription->>'endpoint' = web->>'endpoint' and (user_id, id) <> (for_user, for_device);

  select * into had from devices where user_id = for_user and id = for_device for update;
  if not found then return null; end if;
  update devices
  set apn_device_token = coalesce(apn, apn_device_token), gcm_device_token = coalesce(gcm, gcm_device_token),
      web_push_subscription = coalesce(web, web_push_subscription), updated_at = db_now()
  where user_id = for_user and id = for_device;
  return (apn is not null and apn is distinct from had.apn_device_token)
      or (gcm is not null and gcm is distinct from had.gcm_device_token)
      or (web is not null and web is distinct from had.web_push_subscription);
end $$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Logins
-- ---------------------------------------------------------------------------------------------------------------------

-- Every login, from its start to the end of its token. If an identity belongs to nobody, user_id is an id that is derived
-- from the identity, so that such a login runs the same statements on the same tables.
create table authentications (
  user_id           uuid not null,
  id                uuid not null,
  device_id         uuid not null,
  authenticator     text not null,
  -- 'created': its code is not dispatched yet. 'pending': it waits for an answer. A row keeps its status when it expires.
  status            text not null check (status in ('created', 'pending', 'approved', 'rejected')),
  error_code        text not null default '',
  -- users.epoch when the login began.
  epoch             integer not null,
  -- While the login is open: what the device says about itself (its row is written at the approval), and the state of the
  -- authenticator.
  device            jsonb,
  challenge         jsonb,
  challenge_ends_at timestamptz,
  -- The PIN of step 1 was wrong. The answer to step 2 says so.
  pin_refused       boolean not null default false,
  guesses           smallint not null default 0,
  -- SHA-256 of the Idempotency-Key of the request that approved the login. The same request is approved again while the
  -- token is unused.
  approval_key      bytea,
  token_digest      bytea,
  expires_at        timestamptz not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  approved_at       timestamptz,
  -- The first use of a token ends the older tokens of the device.
  first_used_at     timestamptz,
  ended_at          timestamptz,
  -- Which secret an open login waits for: the first or the second.
  factor            smallint not null default 1,
  -- How the second secret was proven. Null: none was needed.
  second_factor     text,
  -- Keyed digest of the secret that approved the login. A repeat of the approving request is compared with it, because what
  -- the secret was checked against (a one-time code, a challenge) is used up.
  approval_secret   bytea,
  -- A token that is bound to a key of the client works only with a proof (DPoP, RFC 9449) that this key has signed. This is
  -- the thumbprint of the key (RFC 7638) in base64url. Null: the token is not bound.
  key_thumbprint    text,
  -- When a misuse of the token was last reported to its user.
  misuse_reported_at timestamptz,
  -- The clients that use a token that is not bound. If two take turns, somebody may have copied the token. Only a change of
  -- the client writes these columns. client_agent is the first 8 bytes of the SHA-256 of the last client's User-Agent, and
  -- client_network the network of its address. former_agent is the User-Agent of the client before the last one that had
  -- another network too.
  client_agent      bigint,
  client_network    text,
  former_agent      bigint,
  primary key (user_id, id)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
-- The route for the status and the second step of a login have only the id.
create index authentications_by_id on authentications (id);
create index authentications_by_device on authentications (user_id, device_id) where status = 'approved' and ended_at is null;

-- Whether a user was logged in before a login that is being approved: on another device, or on one that was removed since,
-- while its login is still stored. If not, the user gets no notice about a new device.
-- A function sees what was committed before it is called. The statement that approves a login sees only what was committed
-- before the statement began: each of two concurrent first logins would consider itself the first. The statement calls the
-- function after it has settled its guess, and first logins of a user settle their guesses on the same row, one after the
-- other.
create function was_logged_in(for_user uuid, new_device uuid, new_login uuid) returns boolean language plpgsql as $$
begin
  return exists (select 1 from devices d where d.user_id = for_user and d.id <> new_device)
      or exists (select 1 from authentications a
                 where a.user_id = for_user and a.id <> new_login and a.status = 'approved');
end $$;

-- Flows of self-service that one request starts and another one completes within minutes: a re-authentication, a new
-- address, a recovery, a registration, a new factor. If an identity belongs to nobody, user_id is derived as for logins.
create table challenges (
  user_id    uuid not null,
  id         uuid not null,
  -- What it was started for. An answer counts for nothing else.
  purpose    text not null,
  -- What the answer is compared with and what it causes. Never contains a secret.
  kept       jsonb not null,
  guesses    smallint not null default 0,
  -- The device of the session that started it. Null: no session did.
  device_id  uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When its answer took effect, which happens once.
  ended_at   timestamptz,
  primary key (user_id, id)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
-- Recoveries and registrations have only the id.
create index challenges_by_id on challenges (id);
create index challenges_by_expires_at on challenges (expires_at);

-- ---------------------------------------------------------------------------------------------------------------------
-- Second factors
-- ---------------------------------------------------------------------------------------------------------------------

-- One authenticator app for each user.
create table totp (
  user_id      uuid primary key,
  id           uuid not null,
  -- Encrypted with SECRET_KEY and bound to the user. Codes are computed from it, so a digest would not do.
  secret       bytea not null,
  -- The last time step, of 30 s since 1970, whose code was accepted. Only later codes are accepted.
  last_step    bigint not null,
  created_at   timestamptz not null,
  last_used_at timestamptz not null,
  -- The login in whose session the app was enrolled. It has shown the factor, as a later login does.
  authentication_id uuid
);

create table recovery_codes (
  user_id    uuid not null,
  -- Keyed digest. The use of a code deletes its row.
  digest     bytea not null,
  created_at timestamptz not null,
  primary key (user_id, digest)
);

create table passkeys (
  user_id       uuid not null,
  id            uuid not null,
  credential_id bytea not null,
  -- As COSE.
  public_key    bytea not null,
  -- The signature counter of the authenticator. It stays 0 if the authenticator does not count, such as one that
  -- synchronises its passkeys.
  counter       bigint not null,
  transports    text[] not null,
  name          text not null,
  backed_up     boolean not null,
  created_at    timestamptz not null,
  last_used_at  timestamptz,
  -- As in totp.
  authentication_id uuid,
  primary key (user_id, id),
  unique (user_id, credential_id)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Imported password hashes
-- ---------------------------------------------------------------------------------------------------------------------

-- The schemes (algorithm and parameters) of imported hashes that differ from the scheme of new hashes. A failed login
-- verifies a hash of each scheme, so that its time does not show which one an account has. An import adds rows.
create table password_schemes (
  scheme text primary key
);

-- Which users have a hash of such a scheme, so that a scheme without users is found at once. Triggers keep it complete.
create table imported_hashes (
  user_id uuid primary key,
  scheme  text not null
);
create index imported_hashes_by_scheme on imported_hashes (scheme);

-- The scheme of a hash, as in password_schemes. Null for the scheme of new hashes. Every kind of hash ends with a salt and
-- an output, each behind a $. Only bcrypt has one text behind its cost, and Django has its own form of PBKDF2.
create function imported_scheme(hash text) returns text language sql immutable strict parallel safe as $$
  select case
    when hash like '$argon2id$v=19$m=19456,t=2,p=1$%' then null
    when hash like '$2%' then '$2b$' || substr(hash, 5, 2)
    when hash like 'pbkdf2\_sha1$%' then '$pbkdf2$' || split_part(hash, '$', 2)
    when hash like 'pbkdf2\_sha256$%' then '$pbkdf2-sha256$' || split_part(hash, '$', 2)
    else substring(hash from '^(\$.*)\$[^$]*\$[^$]*$')
  end
$$;

create function note_imported_hashes() returns trigger language plpgsql as $$
begin
  insert into imported_hashes (user_id, scheme)
  select id, imported_scheme(password_hash) from added where imported_scheme(password_hash) is not null
  on conflict (user_id) do update set scheme = excluded.scheme;
  return null;
end $$;

create function note_changed_hash() returns trigger language plpgsql as $$
begin
  if imported_scheme(new.password_hash) is null then
    delete from imported_hashes where user_id = old.id;
  else
    insert into imported_hashes (user_id, scheme) values (new.id, imported_scheme(new.password_hash))
    on conflict (user_id) do update set scheme = excluded.scheme;
  end if;
  return null;
end $$;

create function forget_imported_hash() returns trigger language plpgsql as $$
begin
  delete from imported_hashes where user_id = old.id;
  return null;
end $$;

-- For each statement, because an import inserts many users at once.
create trigger imported_hashes_of_new_users after insert on users
  referencing new table as added for each statement execute function note_imported_hashes();
create trigger imported_hash_changed after update of password_hash on users for each row
  when (old.password_hash is distinct from new.password_hash
        and coalesce(imported_scheme(old.password_hash), imported_scheme(new.password_hash)) is not null)
  execute function note_changed_hash();
create trigger imported_hash_gone after delete on users for each row
  when (imported_scheme(old.password_hash) is not null) execute function forget_imported_hash();

-- Removes the schemes that no user has any more. Returns how many. A maintenance task calls it.
-- A transaction that stores a hash holds the row of its scheme until commit or, for a new scheme, the advisory lock. This
-- function waits for neither: a row that is locked is in use.
create function drop_unused_schemes(adding_lock bigint) returns integer language plpgsql as $$
declare
  unused text;
  dropped integer := 0;
begin
  if not pg_try_advisory_xact_lock(adding_lock) then
    return 0;
  end if;
  for unused in
    select s.scheme from password_schemes s
    where not exists (select from imported_hashes h join users u on u.id = h.user_id
                      where h.scheme = s.scheme and imported_scheme(u.password_hash) = s.scheme)
    for update of s skip locked
  loop
    -- This statement sees what was committed before the row was locked.
    delete from password_schemes s
    where s.scheme = unused
      and not exists (select from imported_hashes h join users u on u.id = h.user_id
                      where h.scheme = unused and imported_scheme(u.password_hash) = unused);
    if found then
      dropped := dropped + 1;
    end if;
  end loop;
  return dropped;
end $$;
