-- What ends logins early, for services that check access tokens by themselves: one row for each login, user or key whose access
-- tokens are no longer accepted. Triggers write the rows, in the transaction of the change, so a change by hand in SQL counts too.
-- The key is that of event_feed, so streams are read in the same way. Transactions commit in another order than that of their
-- times. So `told_at` is written afterwards, by the first reader that sees the row: it is later than the commit, and then later
-- than every token that was issued without knowledge of the row. Maintenance deletes rows after 35 minutes: 20 that a new stream is
-- sent, and the life of the longest token.
create table revocations (
  transaction xid8 not null default pg_current_xact_id(),
  created_at  timestamptz not null default db_now(),
  id          uuid not null default gen_random_uuid(),
  -- Whose tokens. Null: those of a key.
  user_id     uuid,
  -- The login. Null: all of the user's logins, or of a key.
  sid         uuid,
  kid         uuid,
  told_at     timestamptz,
  primary key (transaction, created_at, id),
  check ((user_id is null) <> (kid is null) and (sid is null or user_id is not null))
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05);
create index revocations_by_created_at on revocations (created_at, id);
create index revocations_by_user on revocations (user_id, told_at);
create index revocations_untold on revocations (created_at) where told_at is null;

-- Whether anything could be revoked: without a key there is no access token, and the first key is created with the first audience,
-- under this lock. A transaction that sees no key holds the shared lock until it ends, so the first key, and every token, comes after
-- it.
create function revocations_wanted() returns boolean language plpgsql as $$
begin
  if exists (select from signing_keys) then return true; end if;
  if current_setting('transaction_isolation') <> 'read committed' then return true; end if;
  if not pg_try_advisory_xact_lock_shared(7203415058) then return true; end if;
  return exists (select from signing_keys);
end $$;

-- Ends all logins of a user, or removes rights. A new epoch ends every login, except one that the same statement has moved to it:
-- then the others have ended one by one. Without such a login, its logins are written too, because services may know only these.
create function revocation_of_user() returns trigger language plpgsql as $$
begin
  if not revocations_wanted() then return null; end if;
  if tg_op = 'UPDATE' and new.epoch <> old.epoch then
    if exists (select from authentications where user_id = new.id and epoch = new.epoch) then
      if new.roles @> old.roles and new.claims = old.claims and new.status = 'active' and new.lock_kind is null then
        return null;
      end if;
    else
      insert into revocations (user_id, sid)
      select user_id, id from authentications
      where user_id = new.id and status = 'approved' and ended_at is null and first_used_at is not null
        and expires_at > db_now()
      order by approved_at desc limit 1000;
    end if;
  end if;
  insert into revocations (user_id) values (old.id);
  return null;
end $$;
create trigger revocation_of_user after update of status, epoch, lock_kind, locked_until, roles, claims on users
  for each row when (old.status = 'active' and (
    new.status <> 'active' or new.epoch <> old.epoch or not new.roles @> old.roles or new.claims <> old.claims
    or (new.lock_kind is not null and (new.lock_kind, new.locked_until) is distinct from (old.lock_kind, old.locked_until))))
  execute function revocation_of_user();
create trigger revocation_by_user_gone after delete on users
  for each row when (old.status = 'active') execute function revocation_of_user();

-- Ends one login, or makes it end before tokens that it may have. A changed id is a new login. No token is issued before the first use.
create function revocation_of_authentication() returns trigger language plpgsql as $$
begin
  if revocations_wanted() then insert into revocations (user_id, sid) values (old.user_id, old.id); end if;
  return null;
end $$;
create trigger revocation_of_authentication
  after update of user_id, id, status, ended_at, expires_at on authentications
  for each row when (old.status = 'approved' and old.ended_at is null and old.first_used_at is not null and (
    new.ended_at is not null or new.status <> 'approved' or (new.user_id, new.id) <> (old.user_id, old.id)
    or (new.expires_at < old.expires_at and new.expires_at < db_now() + interval '15 minutes')))
  execute function revocation_of_authentication();
create trigger revocation_by_authentication_gone after delete on authentications
  for each row when (old.status = 'approved' and old.ended_at is null and old.first_used_at is not null
                     and old.expires_at > db_now())
  execute function revocation_of_authentication();

-- Withdraws a key.
create function revocation_of_key() returns trigger language plpgsql as $$
begin
  insert into revocations (kid) values (old.id);
  return null;
end $$;
create trigger revocation_by_key_gone after delete on signing_keys
  for each row when (old.signs_since is not null) execute function revocation_of_key();

-- Also for rows that are replicated into these tables, and with session_replication_role = replica.
alter table users enable always trigger revocation_of_user, enable always trigger revocation_by_user_gone;
alter table authentications enable always trigger revocation_of_authentication,
  enable always trigger revocation_by_authentication_gone;
alter table signing_keys enable always trigger revocation_by_key_gone;

-- The start of this transaction on the clock of db_now(): no later than the snapshot of its statements.
create function db_transaction_time() returns timestamptz language sql volatile as $$
  select db_now() - (clock_timestamp() - now())
$$;
