import type { Marker, MarkerInput } from '../../contract/changes.js';
import type { Database, Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { type FieldError, Problem } from '../../lib/problem.js';
import { countCap, ofPosition, positionColumns, unreadRows } from './unread.js';
import { recordInboxEvents } from './webhook-events.js';

/**
 * How far users have read: for each user, the `sequence` of the last notification that the user has read. It only grows.
 * The table, the route and the wire format call the read position `marker`.
 */
export interface ReadPositions {
  /** @throws Problem `invalid_session_token` when there is no such user */
  read(userId: string): Promise<Marker>;
  /**
   * Moves the read position forward, never back.
   * @returns the read position afterwards
   * @throws Problem `validation_failed`; `invalid_session_token` when there is no such user
   */
  move(userId: string, to: MarkerInput): Promise<Marker>;
}

export interface ReadPositionRow {
  user_id: string;
  last_read_sequence: number;
  updated_at: string | null;
  count: number;
}

const selectReadPositions = statement<{ userIds: readonly string[] }, ReadPositionRow>(
  'markers_find',
  (p) => sql`
    select position.user_id, last_read as last_read_sequence, updated_at, unread.count -- last_read: of positionColumns
    from (
      select inbox.user_id, updated_at, ${positionColumns}
      from inboxes inbox left join markers on markers.user_id = inbox.user_id
      where inbox.user_id = any (${p.userIds}::uuid[])
    ) position
      cross join lateral (
        select count(*) as count from (${unreadRows(ofPosition)} limit ${literal(countCap + 1)}) counted
      ) unread`,
);

const selectSequence = statement<{ userId: string; id: string }, { sequence: number }>(
  'markers_sequence',
  (p) => sql`select sequence from notifications where user_id = ${p.userId} and id = ${p.id}`,
);

/**
 * Locks the inbox row: publishing, which takes a stronger lock, and the removal of the user wait. So the read position stays within the
 * inbox, and no row is written for a deleted user. Parallel moves run one after the other, and the
 * highest position stays.
 */
export const moveReadPosition = statement<{ userId: string; sequence: number }>(
  'markers_move',
  (p) => sql`
    with inbox as materialized (
      select user_id, last_change_sequence from inboxes where user_id = ${p.userId} for key share
    ),
    moved as (
      insert into markers (user_id, last_read_sequence, updated_at)
      select user_id, least(${p.sequence}, last_change_sequence), db_now() from inbox
      on conflict (user_id) do update
      set last_read_sequence = excluded.last_read_sequence,
          updated_at = greatest(db_now(), markers.updated_at + interval '1 microsecond'),
          state_version = markers.state_version + 1
      where markers.last_read_sequence < excluded.last_read_sequence
      returning user_id, last_read_sequence, updated_at
    ),
    webhook as (${recordInboxEvents(
      sql`'marker.moved'`,
      sql`(select user_id, null::uuid as id, last_read_sequence as sequence, updated_at as time from moved) moved`,
    )}
    )
    select 1 as moved from moved`,
);

/** The read positions of those users who exist, by user id. */
export async function findReadPositions(handle: Queryable, userIds: readonly string[]): Promise<Map<string, Marker>> {
  const rows = await handle.query(selectReadPositions({ userIds }));
  return new Map(rows.map((row) => [row.user_id, toMarker(row)]));
}

/** The read position as the API shows it. */
export function toMarker({ last_read_sequence, updated_at, count }: Omit<ReadPositionRow, 'user_id'>): Marker {
  return {
    last_read_sequence,
    unread_count: Math.min(count, countCap),
    unread_count_capped: count > countCap,
    updated_at,
  };
}

/** Called in a transaction in which a user marks notifications as read. */
export type OnRead = (tx: Queryable, userId: string) => Promise<void>;

/** @param onChanged called after the commit, with the id of the user whose read position moved */
export function createReadPositions(
  database: Database,
  onChanged: (userIds: readonly string[]) => void,
  onRead?: OnRead,
): ReadPositions {
  const read = async (handle: Queryable, userId: string) => {
    const marker = (await findReadPositions(handle, [userId])).get(userId);
    if (marker === undefined) throw new Problem('invalid_session_token');
    return marker;
  };
  return {
    read: (userId) => read(database.user(userId), userId),
    move: (userId, to) =>
      database.user(userId).transaction(async (tx) => {
        const moved = await tx.query(moveReadPosition({ userId, sequence: await targetOf(tx, userId, to) }));
        if (moved.length > 0) {
          tx.onCommit(() => onChanged([userId]));
          await onRead?.(tx, userId);
        }
        return read(tx, userId);
      }),
  };
}

/**
 * The sequence that the request names.
 * @throws Problem `validation_failed` unless it names exactly one, and an id is one of the user's notifications
 */
async function targetOf(tx: Queryable, userId: string, to: MarkerInput): Promise<number> {
  const { last_read_sequence: sequence, last_read_id: id } = to;
  const refuse = (error: FieldError): never => {
    throw new Problem('validation_failed', { errors: [error] });
  };
  if (sequence !== undefined && id !== undefined) {
    const params = { fields: 'last_read_sequence, last_read_id' };
    return refuse({ field: 'last_read_id', code: 'conflicting_fields', params });
  }
  if (sequence !== undefined) return sequence;
  if (id === undefined) return refuse({ field: 'last_read_sequence', code: 'required' });
  const [row] = await tx.query(selectSequence({ userId, id }));
  return row?.sequence ?? refuse({ field: 'last_read_id', code: 'unknown_notification' });
}
