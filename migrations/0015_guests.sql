-- Whether the user is a guest: nobody has proven anything, and only the token of the first login names the user. It ends with the
-- first address, passkey or account at a provider. The last release goes on working beside this one: it inserts the default.
alter table users add column is_guest boolean not null default false;

-- Webhooks get the events of guests that were merged into an account, too.
create or replace function feed_events() returns trigger language plpgsql as $$
begin
  insert into event_feed (created_at, user_id, id) select created_at, user_id, id from added;
  if exists (select from webhook_endpoints) then
    insert into webhook_outbox (created_at, type, actor, user_ids, data)
    select created_at, type, actor, array[user_id], data from added
    where type = any (array['user.created', 'user.changed', 'user.deleted', 'user.locked', 'user.unlocked', 'user.deactivated',
                            'user.reactivated', 'user.password_changed', 'user.pin_changed', 'identity.verified', 'login.approved',
                            'device.removed', 'totp.enrolled', 'totp.removed', 'passkey.enrolled', 'passkey.removed',
                            'recovery_codes.made', 'second_factors.removed', 'external_identity.linked',
                            'external_identity.unlinked', 'recovery.completed', 'registration.completed', 'guest.merged',
                            'message.failed', 'message.expired', 'message.undelivered'])
      or (type = any (array['login.rejected', 'login.refused_locked', 'account.locked_by_guesses'])
          and exists (select from users u where u.id = added.user_id));
  end if;
  return null;
end $$;
