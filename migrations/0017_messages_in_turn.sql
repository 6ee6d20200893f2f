-- Codes that are asked for wait here until a process dispatches them, many in one statement: a code to nobody is dropped,
-- and every other one gets a job. The row is written in the statement of the message, and deleted in that of the job.
create table undispatched_messages (
  user_id    uuid not null,
  -- The row of the outbox.
  id         uuid not null,
  -- How many codes the client's address has asked for lately, this one included. Jobs of lower turns go first.
  turn       smallint not null,
  created_at timestamptz not null,
  primary key (user_id, id)
);
create index undispatched_messages_by_created_at on undispatched_messages (created_at);

-- Counts a code that an address asks for, and returns how many it has asked for lately, at most 1000. One is forgotten each
-- minute. Nothing is refused here. It is one time for each key, as in `take_request`: when all is forgotten.
create function take_turn(turn_key bytea) returns smallint language plpgsql as $$
declare
  pace interval := interval '1 minute';
  most integer := 1000;
  forgotten_at timestamptz;
begin
  insert into request_limits as l (key, refilled_at) values (turn_key, db_now() + pace)
    on conflict (key) do update
      set refilled_at = least(greatest(l.refilled_at, db_now()) + pace, db_now() + most * pace)
    returning l.refilled_at into forgotten_at;
  return least(most, ceil(extract(epoch from forgotten_at - db_now()) / extract(epoch from pace)));
end $$;
