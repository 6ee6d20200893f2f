-- What an app adds to a notification for its own clients. Only requests with `include=extra` get it. The former release goes on
-- working beside this one: it neither reads nor writes these columns.
alter table notifications
  -- `data`, `url` and `actions`, those that were given.
  add column extra jsonb,
  -- From then on the notification is not counted, and its actions cannot be chosen.
  add column expires_at timestamptz;

alter table notification_states
  -- The key of the action that the user has chosen, and when. A user chooses once.
  add column action_key text,
  add column acted_at timestamptz;
