import type { Change, Changes } from '../contract/changes.js';
import type { Notification } from '../contract/notification.js';
import { arrayText } from '../database/array-text.js';
import { type Database, type Queryable, sql } from '../database/database.js';
import type { FilterClause } from '../lib/filter/fields.js';
import { matches } from '../lib/filter/match.js';
import type { Pace } from '../lib/pacing.js';
import { Problem } from '../lib/problem.js';
import { findImages } from './images/rows.js';
import type { ImageUrls } from './images/url.js';
import { type NotificationRow, notificationColumns, toNotification } from './row.js';

/** From where on the changes of an inbox are wanted. */
export interface Wanted {
  readonly userId: string;
  /** A change sequence. 0: from the start, without what was deleted. */
  readonly after: number;
}

/** An inbox in one snapshot, with the first of its wanted changes, in their order. */
export interface Found {
  /** The last change sequence. The last of the changes may be below it: not everything that goes leaves a trace. */
  readonly head: number;
  /** Deletions up to this one are no longer known. */
  readonly forgotten: number;
  /** The marker's `last_read_sequence`, if there is a marker. */
  readonly marker: number | null;
  readonly changes: readonly ChangeRow[];
}

interface Place {
  readonly change_sequence: number;
  readonly id: string;
  readonly sequence: number;
}
/** What happened last to a notification: it was made or changed, or deleted. */
export type ChangeRow = Place & (({ readonly is_kept: true } & NotificationRow) | { readonly is_kept: false });

type FoundRow = { nth: number; head: number; forgotten: number; marker: number | null } & (ChangeRow | { id: null });

/** A tombstone has the first three columns of a notification. */
const tombstoneColumns = notificationColumns
  .split(',')
  .map((_, index) => ['id', 'user_id', 'sequence'][index] ?? 'null')
  .join(', ');

/**
 * Many inboxes in one statement: each costs a few look-ups by key, and `$3` rows at most. Lateral and limited, with arrays
 * of a length that no plan sees, so that the planner can only go from key to key. It is planned at each use: a plan that
 * was kept from when the tables were nearly empty reads all of a table for each inbox.
 */
const selectChanges = sql(
  `select want.nth::int as nth, head.last_change_sequence as head, head.forgotten_change_sequence as forgotten,
          markers.last_read_sequence as marker, change.*
   from unnest((select $1::uuid[]), (select $2::bigint[])) with ordinality as want (user_id, after, nth)
     cross join lateral (select * from inboxes where user_id = want.user_id limit 1) head
     left join lateral (select * from markers where user_id = want.user_id limit 1) markers on true
     left join lateral (
       (select true as is_kept, change_sequence, ${notificationColumns}
        from notifications where user_id = want.user_id and change_sequence > want.after
        order by change_sequence limit $3)
       union all
       (select false, change_sequence, ${tombstoneColumns}
        from notification_tombstones where user_id = want.user_id and change_sequence > want.after and want.after > 0
        order by change_sequence limit $3)
       order by change_sequence limit $3
     ) change on true
   order by want.nth, change.change_sequence`,
);

/**
 * @param limit changes of each inbox at most; who gets fewer has them all
 * @returns in the order of `wanted`; undefined where there is no such inbox
 */
export async function readChanges(
  handle: Queryable,
  wanted: readonly Wanted[],
  limit: number,
): Promise<(Found | undefined)[]> {
  const values = [arrayText(wanted.map(({ userId }) => userId)), arrayText(wanted.map(({ after }) => after)), limit];
  const found = new Map<number, Found & { changes: ChangeRow[] }>();
  for (const row of await handle.query<FoundRow>(selectChanges, values)) {
    const { nth, head, forgotten, marker } = row;
    const inbox = found.get(nth) ?? { head, forgotten, marker, changes: [] };
    found.set(nth, inbox);
    if (row.id !== null) inbox.changes.push(row);
  }
  return wanted.map((_, index) => found.get(index + 1));
}

/** The notifications of these changes by id, with their images, which are looked up at once. */
export async function notificationsOf(
  handle: Queryable,
  imageUrlsOf: ImageUrls,
  changes: readonly ChangeRow[],
): Promise<(change: ChangeRow) => Notification | null> {
  const ids = changes.flatMap((change) => (change.is_kept ? (change.image_id ?? []) : []));
  const images = await findImages(handle, new Set(ids), imageUrlsOf);
  return (change) => (change.is_kept ? toNotification(change, images) : null);
}

/** Whether who stands there cannot be told everything: deletions were forgotten, or the inbox is an older one. */
export function isLost(after: number, { head, forgotten }: Pick<Found, 'head' | 'forgotten'>): boolean {
  return (after > 0 && after < forgotten) || after > head;
}

/**
 * Where a client stands. While it reads everything from the start in pages, it also carries the head that it began at:
 * what was deleted before that, it never had, so nothing that it needs is forgotten.
 */
export interface ChangesPosition {
  readonly after: number;
  readonly begunAt?: number;
}

/** `42`, or `7-42` in the middle of a first reading that began at 42. Undefined for anything else. */
export function parsePosition(text: string): ChangesPosition | undefined {
  const [, after, begunAt] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text) ?? [];
  if (after === undefined) return undefined;
  return { after: Number(after), ...(begunAt === undefined ? {} : { begunAt: Number(begunAt) }) };
}

function formatPosition({ after, begunAt }: ChangesPosition): string {
  return begunAt === undefined || after >= begunAt ? `${after}` : `${after}-${begunAt}`;
}

export interface ChangesQuery extends ChangesPosition {
  readonly limit: number;
  /** For what was made or changed; what was deleted is always told. */
  readonly filter: readonly FilterClause[];
}

/** Changes that one request looks through, when a filter leaves few of them. */
const longestLook = 1000;

/** @throws Problem `invalid_session_token` when there is no such user */
export async function listChanges(
  database: Database,
  imageUrlsOf: ImageUrls,
  userId: string,
  { after, begunAt, limit, filter }: ChangesQuery,
  pace: Pace,
): Promise<Omit<Changes, 'retained_from'>> {
  const looked = filter.length === 0 ? limit : longestLook;
  const [found] = await readChanges(database, [{ userId, after }], looked);
  if (found === undefined) throw new Problem('invalid_session_token');
  const { head, changes: rows } = found;
  if (isLost(begunAt ?? after, found) || after > head) {
    return { changes: [], after: `${head}`, has_more: false, reset: true };
  }
  const notificationOf = await notificationsOf(database, imageUrlsOf, rows);
  const changes: Change[] = [];
  const begun = begunAt ?? (after === 0 ? head : undefined);
  let reached = after;
  for (const row of rows) {
    if (changes.length === limit) break;
    const pause = pace();
    if (pause !== undefined) await pause;
    const notification = notificationOf(row);
    reached = row.change_sequence;
    // In a first reading all that stood at its beginning is new, however often it had been changed, and what had been
    // deleted is nothing.
    const isFirst = begun !== undefined && reached <= begun;
    if (notification === null ? isFirst : !matches(filter, notification)) continue;
    changes.push(toChange(row, notification, isFirst ? 0 : after));
  }
  const hasMore = rows.length === looked || reached < (rows.at(-1)?.change_sequence ?? 0);
  return {
    changes,
    after: formatPosition({ after: hasMore ? reached : head, ...(begun !== undefined && { begunAt: begun }) }),
    has_more: hasMore,
    reset: false,
  };
}

function toChange(row: ChangeRow, notification: Notification | null, after: number): Change {
  const { change_sequence, id, sequence } = row;
  const operation = notification === null ? 'delete' : sequence > after ? 'create' : 'update';
  return { operation, change_sequence, id, sequence, notification };
}
