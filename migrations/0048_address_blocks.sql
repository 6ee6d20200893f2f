-- Addresses whose requests are refused.
create table address_blocks (
  id         uuid primary key,
  network    cidr not null unique,
  reason     text,
  -- Null: until an operator ends it.
  ends_at    timestamptz,
  created_by text not null,
  created_at timestamptz not null
);
create index address_blocks_by_created_at on address_blocks (created_at, id);
create index address_blocks_by_end on address_blocks (ends_at) where ends_at is not null;

-- Each process keeps the blocks in memory, and reads them again when this number has changed: the number of the last
-- transaction that changed a block.
create table address_blocks_version (
  only_one boolean primary key default true check (only_one),
  version  bigint not null
);
insert into address_blocks_version (version) values (0);

-- A trigger, so that processes also notice a change by hand. For each row, because the maintenance task that removes old
-- blocks mostly removes none.
create function note_address_blocks() returns trigger language plpgsql as $$
begin
  update address_blocks_version set version = pg_current_xact_id()::text::bigint
  where version <> pg_current_xact_id()::text::bigint;
  return null;
end $$;

create trigger address_blocks_changed after insert or update or delete on address_blocks
  for each row execute function note_address_blocks();
create trigger address_blocks_emptied after truncate on address_blocks
  for each statement execute function note_address_blocks();
