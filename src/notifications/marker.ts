import type { Marker, MarkerInput } from '../contract/changes.js';
import { type Database, prepared, type Queryable, type Transaction } from '../database/database.js';
import { type FieldError, Problem } from '../lib/problem.js';

/** Up to where users have read: one number for each, which only grows. */
export interface Markers {
  /** @throws Problem `invalid_session_token` when there is no such user */
  read(userId: string): Promise<Marker>;
  /**
   * Moves the marker on, never back, and answers with the marker as it is then.
   * @throws Problem `validation_failed`; `invalid_session_token` when there is no such user
   */
  move(userId: string, to: MarkerInput): Promise<Marker>;
}

/** A count of unread notifications stops here. */
const countCap = 100;

/** Counted in order, or a planner that thinks most rows are unread would read the user's rows wherever they lie. */
const selectMarkers = prepared(
  'markers_find',
  `select head.user_id, coalesce(last_read_sequence, 0) as last_read_sequence, markers.updated_at, unread.count
   from inboxes head
     left join markers on markers.user_id = head.user_id
     cross join lateral (
       select count(*) as count from (
         select 1 from notifications
         where user_id = head.user_id and sequence > coalesce(last_read_sequence, 0)
         order by sequence
         limit ${countCap + 1}
       ) counted
     ) unread
   where head.user_id = any ($1::uuid[])`,
);

const selectSequence = prepared(
  'markers_sequence',
  'select sequence from notifications where user_id = $1 and id = $2',
);

/*
 * The head is locked against a publisher and against its removal: a marker stands within the inbox, and nothing is
 * written for a user who is gone. Of parallel moves the last one to get the row finds the greater number in it.
 */
const moveMarker = prepared(
  'markers_move',
  `with head as materialized (
     select user_id, last_change_sequence from inboxes where user_id = $1 for key share
   )
   insert into markers (user_id, last_read_sequence, updated_at)
   select user_id, least($2, last_change_sequence), db_now() from head
   on conflict (user_id) do update
   set last_read_sequence = excluded.last_read_sequence,
       updated_at = greatest(db_now(), markers.updated_at + interval '1 microsecond')
   where markers.last_read_sequence < excluded.last_read_sequence
   returning 1 as moved`,
);

interface MarkerRow {
  user_id: string;
  last_read_sequence: number;
  updated_at: string | null;
  count: number;
}

/** The markers of users who exist, by user id. */
export async function findMarkers(handle: Queryable, userIds: readonly string[]): Promise<Map<string, Marker>> {
  const rows = await handle.query<MarkerRow>(selectMarkers, [userIds]);
  return new Map(rows.map((row) => [row.user_id, toMarker(row)]));
}

function toMarker({ last_read_sequence, updated_at, count }: MarkerRow): Marker {
  return {
    last_read_sequence,
    unread_count: Math.min(count, countCap),
    unread_count_capped: count > countCap,
    updated_at,
  };
}

/** @param changed hears of the users whose marker has moved, once it is committed */
export function createMarkers(database: Database, changed: (userIds: readonly string[]) => void): Markers {
  const read = async (handle: Queryable, userId: string) => {
    const marker = (await findMarkers(handle, [userId])).get(userId);
    if (marker === undefined) throw new Problem('invalid_session_token');
    return marker;
  };
  return {
    read: (userId) => read(database, userId),
    move: (userId, to) =>
      database.lane(userId).transaction(async (tx: Transaction) => {
        const moved = await tx.query(moveMarker, [userId, await targetOf(tx, userId, to)]);
        if (moved.length > 0) tx.onCommit(() => changed([userId]));
        return read(tx, userId);
      }),
  };
}

/** @throws Problem `validation_failed` unless exactly one way is given, and an id is one of the user's notifications */
async function targetOf(tx: Queryable, userId: string, to: MarkerInput): Promise<number> {
  const { last_read_sequence: sequence, last_read_id: id } = to;
  const refuse = (fault: FieldError): never => {
    throw new Problem('validation_failed', { errors: [fault] });
  };
  if (sequence !== undefined && id !== undefined) {
    const params = { fields: 'last_read_sequence, last_read_id' };
    return refuse({ field: 'last_read_id', code: 'conflicting_fields', params });
  }
  if (sequence !== undefined) return sequence;
  if (id === undefined) return refuse({ field: 'last_read_sequence', code: 'required' });
  const [row] = await tx.query<{ sequence: number }>(selectSequence, [userId, id]);
  return row?.sequence ?? refuse({ field: 'last_read_id', code: 'unknown_notification' });
}
