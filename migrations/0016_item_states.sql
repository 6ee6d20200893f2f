-- States of single notifications: read, archived, snoozed. Most users need no row here, because the read position says what
-- is read: a row is an exception to it. The former release goes on working beside this one: it ignores these rows, and the
-- foreign key removes and moves them with their notifications.
create table notification_states (
  user_id       uuid not null,
  sequence      bigint not null,
  -- True: read above the read position. False: unread at or below it. Null: as the read position says.
  is_read       boolean,
  -- True: archived above `archived_through`. False: not archived at or below it. Null: as `archived_through` says.
  is_archived   boolean,
  snoozed_until timestamptz,
  -- The `state_version` of the user's row in `markers` at the last change. Clients read what is newer than theirs.
  version       bigint not null,
  -- A row that says the same as the positions of the user is removed after 30 days.
  updated_at    timestamptz not null,
  primary key (user_id, sequence),
  foreign key (user_id, sequence) references notifications (user_id, sequence) on update cascade on delete cascade
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index notification_states_by_version on notification_states (user_id, version, sequence);
-- What a user has marked as unread: it is counted with every badge.
create index notification_states_unread on notification_states (user_id, sequence) where is_read = false;

alter table markers
  -- Null: there is a row, but the read position was never moved.
  alter column updated_at drop not null,
  -- Up to which number the user has seen that there are notifications, for the badge.
  add column seen_sequence bigint not null default 0,
  -- Up to which number everything is archived.
  add column archived_through bigint not null default 0,
  -- Grows with each change of states and of the three positions.
  add column state_version bigint not null default 0,
  -- States up to this version may have been removed. A client whose last synchronisation is older must start again.
  add column forgotten_state_version bigint not null default 0;
