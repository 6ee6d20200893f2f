import { prepared, type Queryable, type Statement, sql } from '../database/database.js';
import type { FilterClause } from '../lib/filter/fields.js';
import { filterSql } from '../lib/filter/sql.js';
import type { Instant } from '../lib/times.js';
import { type NotificationRow, notificationColumns } from './row.js';

export type NotificationSortField = 'created_at' | 'updated_at';

/** Which notifications of an inbox, in which order. */
export interface NotificationQuery {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  /** At least one key. The first decides: no two notifications of a user share a time. */
  readonly sort: readonly { readonly field: NotificationSortField; readonly direction: 'asc' | 'desc' }[];
  /** Strictly after, against the time that is sorted by. */
  readonly since?: Instant;
  readonly filter: readonly FilterClause[];
  /** Leaves out what arrived after this sequence, so that the pages of a walk do not shift. */
  readonly mark?: number;
  /** Counts beyond `countCap` where the count is not free. */
  readonly countsExactly: boolean;
}

export interface PageOfRows {
  readonly rows: readonly NotificationRow[];
  readonly hasNext: boolean;
  /** How many the query has on all its pages. */
  readonly total: number;
  /** False: there are more than `total`. */
  readonly totalIsExact: boolean;
  /** The mark that keeps further pages in line with this one. */
  readonly mark: number;
}

/** A count that is not free stops here. */
const countCap = 1000;

/** created_at grows with sequence and updated_at with change_sequence: each pair is one order with one index. */
const orders = {
  created_at: { place: 'sequence' },
  updated_at: { place: 'change_sequence' },
} as const;

type ListRow = { total: number; last_change_sequence: number } & (NotificationRow | { id: null });

/** One page of a user's inbox; undefined when there is no such inbox. */
export async function selectPage(
  handle: Queryable,
  userId: string,
  query: NotificationQuery,
): Promise<PageOfRows | undefined> {
  const { statement, values } = listStatement(userId, query);
  const found = await handle.query<ListRow>(statement, values);
  const [first] = found;
  if (first === undefined) return undefined;
  const rows = found.filter((row) => row.id !== null);
  const totalIsExact = countIsFree(query) || query.countsExactly || first.total <= countCap;
  return {
    rows: rows.slice(0, query.limit),
    hasNext: rows.length > query.limit,
    total: totalIsExact ? first.total : countCap,
    totalIsExact,
    mark: Math.min(query.mark ?? first.last_change_sequence, first.last_change_sequence),
  };
}

/** One statement, so that page, count and mark are of one snapshot. It names one user, and reads one row too many. */
export function listStatement(userId: string, query: NotificationQuery): { statement: Statement; values: unknown[] } {
  const { sort, page, limit, mark, since } = query;
  const { field, direction } = sort[0] ?? { field: 'created_at', direction: 'desc' };
  const { place } = orders[field];
  const values: unknown[] = [userId, limit + 1, (page - 1) * limit];
  const value = (of: unknown, type: string) => `$${values.push(of)}::${type}`;

  const markValue = mark === undefined ? undefined : value(mark, 'bigint');
  const bounds = since === undefined ? '' : `, ${boundsOf(field, value(since, 'timestamptz'))}`;
  const matching = [
    'from notifications where user_id = $1',
    markValue && `sequence <= ${markValue}`,
    since && `${place} > (select low from bounds where low = high)`,
    filterSql(query.filter, values),
  ]
    .filter((condition) => condition !== undefined)
    .join(' and ');

  const text = `with recursive head as (
      select last_change_sequence, total from inboxes where user_id = $1
    )${bounds}
    select head.last_change_sequence, ${totalOf(query, matching, markValue)} as total, page.*
    from head left join (
      select ${notificationColumns}, change_sequence ${matching} order by ${place} ${direction} limit $2 offset $3
    ) page on true
    order by ${place} ${direction}`;
  // Texts without a filter are few: they are worth keeping prepared.
  const shape = [
    field,
    direction,
    since && (query.countsExactly ? 'since_exact' : 'since'),
    mark !== undefined && 'mark',
  ];
  const name = `notifications_list_${shape.filter((part) => part).join('_')}`;
  return { statement: query.filter.length > 0 ? sql(text) : prepared(name, text), values };
}

/** Every row of the inbox is counted in the head already. */
function countIsFree({ since, filter }: NotificationQuery): boolean {
  return since === undefined && filter.length === 0;
}

function totalOf(query: NotificationQuery, matching: string, mark: string | undefined): string {
  if (countIsFree(query)) {
    // Of the marked inbox nothing is counted but what arrived since.
    const arrived = `(select count(*) from notifications where user_id = $1 and sequence > ${mark})`;
    return mark === undefined ? 'head.total' : `head.total - ${arrived}`;
  }
  const counted = query.countsExactly ? matching : `from (select ${matching} limit ${countCap + 1}) counted`;
  return `(select count(*) ${counted})`;
}

/**
 * Where `since` lies in the order: every row up to `low` is at most that old, every row beyond `high` is newer, and the
 * last step has both equal. A bisection, of one look into the index each, instead of an index on the time or of a scan
 * through all that is older, which a poll for news would be.
 */
function boundsOf(field: NotificationSortField, since: string): string {
  const { place } = orders[field];
  return `bounds (low, high) as (
      select 0::bigint, last_change_sequence from head
      union all
      select case when is_newer then low else middle end, case when is_newer then place - 1 else high end
      from bounds
        cross join lateral (select (low + high + 1) / 2 as middle) half
        left join lateral (
          select ${place} as place, ${field} > ${since} as is_newer
          from notifications where user_id = $1 and ${place} > low and ${place} <= middle
          order by ${place} desc limit 1
        ) nearest on true
      where low < high
    )`;
}
