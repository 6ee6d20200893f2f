-- What users have chosen about how notifications reach them. A user who never chose has no row, so that new defaults reach them.
create table preferences (
  user_id    uuid primary key,
  -- A name of the IANA time zone database.
  time_zone  text,
  -- For each channel {value, chosen_at}. A channel that is off beats the categories.
  channels   jsonb not null default '{}',
  -- For each category, and in it for each channel, {value, chosen_at}. At most 400 categories: see choices.ts.
  categories jsonb not null default '{}'
);
