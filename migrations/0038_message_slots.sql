-- Takes one message, as `take_message`, and tells when the next one may be requested. `wait` is null when the message was
-- taken, else the seconds to wait.
create function take_message_slot(limit_key bytea, out wait float8, out free_at timestamptz) language plpgsql as $$
declare
  sent timestamptz[];
  written timestamptz;
  now timestamptz;
begin
  loop
    insert into message_limits (key, sent_at, updated_at) values (limit_key, '{}', db_now()) on conflict do nothing;
    select m.sent_at, m.updated_at into sent, written from message_limits m where m.key = limit_key for update;
    exit when found;
  end loop;
  now := db_now();
  -- The clock stepped back since: the times go with it, or the limits would last for the step too.
  if written > now then
    sent := array(select t - (written - now) from unnest(sent) with ordinality u(t, at) order by at);
    update message_limits m set sent_at = sent, updated_at = now where m.key = limit_key;
  end if;
  -- Newest first. A window is full when its nth newest sending lies inside it.
  free_at := greatest(sent[1] + interval '1 minute', sent[5] + interval '1 hour', sent[10] + interval '1 day');
  if free_at > now then
    wait := extract(epoch from free_at - now);
    return;
  end if;
  sent := (array_prepend(now, sent))[1:10];
  update message_limits m set sent_at = sent, updated_at = now where m.key = limit_key;
  free_at := greatest(sent[1] + interval '1 minute', sent[5] + interval '1 hour', sent[10] + interval '1 day');
end $$;

-- Instances of the version before this one still call it.
create or replace function take_message(limit_key bytea) returns float8 language sql as $$
  select wait from take_message_slot(limit_key)
$$;
