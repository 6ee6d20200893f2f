-- When channels were paused: these times do not count for the `ttl` of what waited. The newest 200 pauses of the last 60 days: nothing
-- waits for longer than 31 days. The former release ends a pause without writing it here.
alter table channels add column pauses tstzmultirange not null default '{}';

-- The id that the provider gave an SMS, so that only receipts about its last attempt count.
alter table step_deliveries add column provider_reference text;
