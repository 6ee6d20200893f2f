-- The request that caused later work, as a `traceparent` of W3C Trace Context. Without tracing the setting is empty, and
-- so are the columns. The defaults are stable expressions, so the tables are not rewritten.
alter table undispatched_messages
  add column traceparent text default nullif(current_setting('postern.traceparent', true), '');
alter table publications
  add column traceparent text default nullif(current_setting('postern.traceparent', true), '');
alter table webhook_outbox
  add column traceparent text default nullif(current_setting('postern.traceparent', true), '');
alter table webhook_events add column traceparent text;
