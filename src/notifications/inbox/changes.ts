import type { Change, Changes } from '../../contract/changes.js';
import type { Notification } from '../../contract/notification.js';
import { arrayText } from '../../database/array-text.js';
import type { Database, Queryable } from '../../database/database.js';
import { identifier, join, sql, statement, unprepared } from '../../database/sql.js';
import type { FilterClause } from '../../lib/filter/fields.js';
import type { Pace } from '../../lib/pacing.js';
import { Problem } from '../../lib/problem.js';
import { findImages } from '../images/rows.js';
import type { ImageUrls } from '../images/url.js';
import { withExtras } from './extras.js';
import { categoryOf, matchesNotification } from './filter-fields.js';
import { columnNames, type NotificationRow, notificationColumns, toNotification } from './row.js';

/** An inbox, and the change sequence after which to read its changes. */
export interface ChangesFrom {
  readonly userId: string;
  /** A change sequence. 0: from the start, without deletions. */
  readonly after: number;
}

/** The state of an inbox and the first of the requested changes, in order, all from one snapshot. */
export interface InboxChanges {
  /**
   * The highest change sequence that was used. It may be higher than the change sequence of the last row, because some
   * changes leave no row.
   */
  readonly lastChange: number;
  /** Tombstones (records of deleted notifications) up to this change sequence have been removed. */
  readonly tombstonesRemovedUpTo: number;
  /** The `last_read_sequence` of the read position; null when there is none. */
  readonly lastRead: number | null;
  /** The version of the states of its notifications. */
  readonly stateVersion: number;
  readonly changes: readonly ChangeRow[];
}

interface Place {
  readonly change_sequence: number;
  readonly id: string;
  readonly sequence: number;
}
/** The last change of a notification: it was created or changed, or it was deleted (a tombstone). */
export type ChangeRow = Place &
  (
    | ({ readonly is_kept: true; readonly category: string } & NotificationRow)
    | { readonly is_kept: false; readonly category: null }
  );

type FoundRow = { nth: number; lastChange: number; forgotten: number; marker: number | null; version: number } & (
  | ChangeRow
  | { id: null }
);

/** SQL: the columns of a notification. A tombstone has values in only three of them. */
const tombstoneColumns = join(
  columnNames.map((field) => (/^(id|user_id|sequence)$/.test(field) ? identifier(field) : sql`null`)),
  ', ',
);

/**
 * Reads many inboxes in one statement. Each inbox costs a few look-ups by key and at most `limit` rows. The subqueries are
 * lateral and limited, so the planner can only look up key by key. The statement is planned at each use: an old plan from
 * a time when the tables were nearly empty would read a whole table for each inbox.
 */
const selectChanges = unprepared(
  statement<{ userIds: string; afters: string; limit: number }, FoundRow>(
    'changes_read',
    (p) => sql`
    select wanted.nth::int as nth, inbox.last_change_sequence as "lastChange", inbox.forgotten_change_sequence as forgotten,
           markers.last_read_sequence as marker, coalesce(markers.state_version, 0) as version, change.*
    from unnest((select ${p.userIds}::uuid[]), (select ${p.afters}::bigint[])) with ordinality
        as wanted (user_id, after, nth)
      cross join lateral (select * from inboxes where user_id = wanted.user_id limit 1) inbox
      left join lateral (select * from markers where user_id = wanted.user_id limit 1) markers on true
      left join lateral (
        (select true as is_kept, change_sequence, ${categoryOf} as category, ${notificationColumns}
         from notifications where user_id = wanted.user_id and change_sequence > wanted.after
         order by change_sequence limit ${p.limit})
        union all
        (select false, change_sequence, null, ${tombstoneColumns}
         from notification_tombstones
         where user_id = wanted.user_id and change_sequence > wanted.after and wanted.after > 0
         order by change_sequence limit ${p.limit})
        order by change_sequence limit ${p.limit}
      ) change on true
    order by wanted.nth, change.change_sequence`,
  ),
);

/**
 * @param limit the maximum number of changes of each inbox
 * @returns the result for each inbox, in the order of `positions`; undefined if the inbox does not exist
 */
export async function readChanges(
  handle: Queryable,
  positions: readonly ChangesFrom[],
  limit: number,
): Promise<(InboxChanges | undefined)[]> {
  const changesByPlace = new Map<number, InboxChanges & { changes: ChangeRow[] }>();
  const userIds = arrayText(positions.map(({ userId }) => userId));
  const afters = arrayText(positions.map(({ after }) => after));
  for (const row of await handle.query(selectChanges({ userIds, afters, limit }))) {
    const { nth, lastChange, forgotten, marker, version } = row;
    const inbox = changesByPlace.get(nth) ?? {
      lastChange,
      tombstonesRemovedUpTo: forgotten,
      lastRead: marker,
      stateVersion: version,
      changes: [],
    };
    changesByPlace.set(nth, inbox);
    if (row.id !== null) inbox.changes.push(row);
  }
  return positions.map((_, index) => changesByPlace.get(index + 1));
}

/**
 * Looks up the images of all these changes in one query.
 * @returns a function that returns the notification of a change, or null if it was deleted
 */
export async function notificationsOf(
  handle: Queryable,
  imageUrlsOf: ImageUrls,
  changes: readonly ChangeRow[],
): Promise<(change: ChangeRow) => Notification | null> {
  const ids = changes.flatMap((change) => (change.is_kept ? (change.image_id ?? []) : []));
  const images = await findImages(handle, new Set(ids), imageUrlsOf);
  return (change) => (change.is_kept ? toNotification(change, images) : null);
}

/**
 * Whether a client at this position must start again. It must if tombstones after this position were removed. It also
 * must if the position is beyond the end of the inbox: then the database was restored from a backup.
 */
export function needsReset(
  after: number,
  { lastChange, tombstonesRemovedUpTo: forgotten }: Pick<InboxChanges, 'lastChange' | 'tombstonesRemovedUpTo'>,
): boolean {
  return (after > 0 && after < forgotten) || after > lastChange;
}

/**
 * A client's position. During a first read in pages, it also contains the change sequence at which the read began. The
 * client never got notifications that were deleted before that, so it does not need their tombstones (decision 27).
 */
export interface ChangesPosition {
  readonly after: number;
  readonly begunAt?: number;
}

function formatPosition({ after, begunAt }: ChangesPosition): string {
  return begunAt === undefined || after >= begunAt ? `${after}` : `${after}-${begunAt}`;
}

export interface ChangesQuery extends ChangesPosition {
  readonly limit: number;
  /** Applies to notifications that were created or changed. Deletions are always listed. */
  readonly filter: readonly FilterClause[];
  /** Whether to add what `include=extra` asks for. */
  readonly includesExtra?: boolean;
}

/** The maximum number of changes that one request with a filter reads. */
const maxFiltered = 1000;

/** @throws Problem `invalid_session_token` when there is no such user */
export async function listChanges(
  database: Database,
  imageUrlsOf: ImageUrls,
  userId: string,
  { after, begunAt, limit, filter, includesExtra }: ChangesQuery,
  pace: Pace,
): Promise<Omit<Changes, 'retained_from'>> {
  const readLimit = filter.length === 0 ? limit : maxFiltered;
  const [result] = await readChanges(database.user(userId), [{ userId, after }], readLimit);
  if (result === undefined) throw new Problem('invalid_session_token');
  const { lastChange, changes: rows } = result;
  if (needsReset(begunAt ?? after, result) || after > lastChange) {
    return { changes: [], after: `${lastChange}`, has_more: false, reset: true };
  }
  const notificationOf = await notificationsOf(database, imageUrlsOf, rows);
  const changes: Change[] = [];
  const firstReadEnd = begunAt ?? (after === 0 ? lastChange : undefined);
  let reached = after;
  for (const row of rows) {
    if (changes.length === limit) break;
    const pause = pace();
    if (pause !== undefined) await pause;
    const notification = notificationOf(row);
    reached = row.change_sequence;
    // In a first read, all notifications that existed at its start are new to the client, and earlier deletions are
    // skipped.
    const isFirst = firstReadEnd !== undefined && reached <= firstReadEnd;
    if (notification === null ? isFirst : !matchesNotification(filter, notification, row.category)) continue;
    changes.push(toChange(row, notification, isFirst ? 0 : after));
  }
  if (includesExtra) await addExtras(database.user(userId), changes);
  const hasMore = rows.length === readLimit || reached < (rows.at(-1)?.change_sequence ?? 0);
  return {
    changes,
    after: formatPosition({
      after: hasMore ? reached : lastChange,
      ...(firstReadEnd !== undefined && { begunAt: firstReadEnd }),
    }),
    has_more: hasMore,
    reset: false,
  };
}

/** A notification that was deleted meanwhile stays without extra: its deletion is a later change. */
async function addExtras(handle: Queryable, changes: Change[]): Promise<void> {
  const kept = changes.flatMap(({ notification }) => notification ?? []);
  const extended = new Map((await withExtras(handle, kept)).map((notification) => [notification.id, notification]));
  for (const change of changes) change.notification = extended.get(change.id) ?? change.notification;
}

function toChange(row: ChangeRow, notification: Notification | null, after: number): Change {
  const { change_sequence, id, sequence } = row;
  const operation = notification === null ? 'delete' : sequence > after ? 'create' : 'update';
  return { operation, change_sequence, id, sequence, notification };
}
