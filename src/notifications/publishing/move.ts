import type { Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { countFullBlocks } from '../inbox/block-counts.js';
import { advancedColumns, advanceInboxRow } from './publish-queries.js';

/** Rows that one statement moves, which must end well before the statement timeout. */
const batchSize = 1000;

/** Locks both inbox rows in the order of their users, as publishers do. */
const lockBoth = statement<{ userIds: readonly string[] }, { user_id: string }>(
  'inbox_move_lock',
  (p) => sql`select user_id from inboxes where user_id = any(${p.userIds}::uuid[]) order by user_id for update`,
);

/** Whether the user has read everything. Only then can the read position say that moved rows are read. */
const readPositions = statement<
  { from: string; to: string },
  { read_until: number; archived_through: number; target_is_read: boolean }
>(
  'inbox_move_positions',
  (p) => sql`
  select coalesce((select last_read_sequence from markers where user_id = ${p.from}), 0) as read_until,
         coalesce((select archived_through from markers where user_id = ${p.from}), 0) as archived_through,
         not exists (
           select from notifications
           where user_id = ${p.to}
             and sequence > coalesce((select last_read_sequence from markers where user_id = ${p.to}), 0)) as target_is_read`,
);

/** Counts a new version of the other user's states, which all moved states get. */
const raiseVersion = statement<{ userId: string }, { version: number }>(
  'inbox_move_version',
  (p) => sql`
  insert into markers (user_id, last_read_sequence, state_version) values (${p.userId}, 0, 1)
  on conflict (user_id) do update set state_version = markers.state_version + 1
  returning state_version as version`,
);

/** The positions of the first user, from which the moved states are computed. */
interface KeptPositions {
  readonly from: string;
  readonly readUntil: number;
  readonly archivedThrough: number;
  readonly version: number;
  /** Whether the read position moves too. Then a notification below it that was marked as unread keeps its state. */
  readonly keepsUnread: boolean;
}

/**
 * The positions do not move, so each read or archived notification gets its own state. In the other inbox, all moved notifications are
 * above the positions.
 */
const keepStates = statement<KeptPositions>(
  'inbox_move_states',
  (p) => sql`
  update notification_states
  set is_read = case when ${p.keepsUnread}::boolean then is_read
                     else nullif(coalesce(is_read, sequence <= ${p.readUntil}), false) end,
      is_archived = nullif(coalesce(is_archived, sequence <= ${p.archivedThrough}), false),
      version = ${p.version}, updated_at = db_now()
  where user_id = ${p.from}`,
);
const addStates = statement<Omit<KeptPositions, 'keepsUnread'>>(
  'inbox_move_add_states',
  (p) => sql`
  insert into notification_states (user_id, sequence, is_read, is_archived, version, updated_at)
  select user_id, sequence, nullif(sequence <= ${p.readUntil}, false), nullif(sequence <= ${p.archivedThrough}, false),
         ${p.version}, db_now()
  from notifications
  where user_id = ${p.from} and sequence <= greatest(${p.readUntil}::bigint, ${p.archivedThrough}::bigint)
  on conflict (user_id, sequence) do nothing`,
);

/**
 * Moves the oldest rows to the end of the other inbox, in their order. As in a publication, a row gets its number and its time
 * under the lock of the inbox row, because both are in the same order in each inbox.
 */
const moveRows = statement<
  { from: string; to: string; readUntil: number },
  { moved: number; last_read: number | null; is_full: boolean | null }
>(
  'inbox_move_rows',
  (p) => sql`
  with batch as materialized (
    select sequence, row_number() over (order by sequence) as place
    from notifications where user_id = ${p.from} order by sequence limit ${literal(batchSize)}),
  size as materialized (select count(*) as rows from batch),
  inbox as (
    update inboxes set ${advanceInboxRow(sql`db_now()`)} from size where user_id = ${p.to} and rows > 0
    returning ${advancedColumns}),
  moved as (
    update notifications n
    set user_id = ${p.to}, sequence = inbox.before + batch.place, change_sequence = inbox.before + batch.place,
        created_at = inbox.start + (batch.place - 1) * interval '1 microsecond',
        updated_at = inbox.start + (batch.place - 1) * interval '1 microsecond'
    from batch, inbox where n.user_id = ${p.from} and n.sequence = batch.sequence
    returning batch.sequence as former, n.sequence)
  select count(*)::int as moved, max(sequence) filter (where former <= ${p.readUntil}) as last_read,
         (select is_full from inbox) as is_full
  from moved`,
);

const moveMarker = statement<{ userId: string; sequence: number }>(
  'inbox_move_marker',
  (p) => sql`
  insert into markers (user_id, last_read_sequence, updated_at) values (${p.userId}, ${p.sequence}, db_now())
  on conflict (user_id) do update
  set last_read_sequence = excluded.last_read_sequence,
      updated_at = greatest(db_now(), markers.updated_at + interval '1 microsecond'),
      state_version = markers.state_version + 1
  where markers.last_read_sequence < excluded.last_read_sequence`,
);

/**
 * Moves every notification of an inbox to the end of another one, in the caller's transaction. Nothing is pushed. The caller deletes the
 * user of the first inbox in the same transaction, so a publication to it comes before the move or is refused.
 *
 * The states move with their notifications. If the other user has read everything, the read position moves to the last read notification.
 * Otherwise, each read notification gets a state.
 * @returns how many were moved
 */
export async function moveInbox(tx: Queryable, from: string, to: string): Promise<number> {
  const locked = await tx.query(lockBoth({ userIds: [from, to] }));
  if (locked.length < 2) return 0;
  const [position] = await tx.query(readPositions({ from, to }));
  const {
    read_until: readUntil = 0,
    archived_through: archivedThrough = 0,
    target_is_read: isRead = false,
  } = position ?? {};
  const [raised] = await tx.query(raiseVersion({ userId: to }));
  const kept = { from, readUntil, archivedThrough, version: raised?.version ?? 0 };
  await tx.query(keepStates({ ...kept, keepsUnread: isRead }));
  await tx.query(addStates({ ...kept, readUntil: isRead ? 0 : readUntil }));
  let total = 0;
  let lastRead: number | null = null;
  for (;;) {
    const [row] = await tx.query(moveRows({ from, to, readUntil }));
    if (row === undefined || row.moved === 0) break;
    total += row.moved;
    lastRead = row.last_read ?? lastRead;
    if (row.is_full === true) await countFullBlocks(tx, [to]);
    if (row.moved < batchSize) break;
  }
  if (lastRead !== null && isRead) await tx.query(moveMarker({ userId: to, sequence: lastRead }));
  return total;
}
