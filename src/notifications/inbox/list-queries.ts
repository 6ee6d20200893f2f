import type { Queryable } from '../../database/database.js';
import {
  bound,
  compose,
  identifier,
  join,
  literal,
  type Sql,
  type SqlPart,
  type Statement,
  type StatementWith,
  sql,
  statement,
} from '../../database/sql.js';
import type { FilterClause } from '../../lib/filter/fields.js';
import type { Instant } from '../../lib/times.js';
import { blockSize, countedBlocks, placeInBlocks, rowsBeyond } from './blocks.js';
import type { Anchor, NotificationSort } from './cursor.js';
import {
  type ExtraColumns,
  type ExtraInboxRow,
  type ExtraState,
  extraColumns,
  extraPosition,
  extraStateOf,
  type InboxView,
  itemColumns,
  joinItemState,
  viewCondition,
} from './extras.js';
import { notificationCondition } from './filter-fields.js';
import { columnNames, type NotificationRow, notificationColumns } from './row.js';
import { type InboxRow, type InboxState, stateColumns, stateOf } from './state.js';
import { boundsOf, placeColumns } from './time-bounds.js';

export type { InboxState } from './state.js';

/** Which notifications of an inbox to read, and in which order. */
export interface NotificationQuery {
  /**
   * The number of the page, from 1. If there is an anchor, the anchor selects the rows and the answer only repeats this
   * number.
   */
  readonly page: number;
  readonly limit: number;
  readonly sort: NotificationSort;
  /** Only rows whose time is strictly later than this: the time by which the list is sorted. */
  readonly since?: Instant;
  readonly filter: readonly FilterClause[];
  /** Whether the rows have what `include=extra` asks for. */
  readonly includesExtra?: boolean;
  /** Only notifications of this view. */
  readonly view?: InboxView;
  /**
   * The list has no notifications after this sequence, so that its pages do not shift while new notifications are
   * published.
   */
  readonly mark?: number;
  /** Where the page starts or ends. The index finds this place directly, however far it is from the first page. */
  readonly anchor?: Anchor;
  /** Whether to count beyond `countCap`. Without a filter and without `since`, the inbox row already has the count. */
  readonly countsExactly: boolean;
}

export interface PageOfRows {
  readonly rows: readonly ListedRow[];
  readonly hasNext: boolean;
  /** The number of rows on all pages. */
  readonly total: number;
  /** False if there are more rows than `total`. */
  readonly totalIsExact: boolean;
  /** The value of `mark` for further pages. */
  readonly mark: number;
  /** With the states of notifications, if the rows have their extras. */
  readonly state: InboxState | ExtraState;
}

/**
 * A row of a page. It has no user id, because all rows have the same one. `updated_at` is null if it equals
 * `created_at`. It has the columns of extras if the query includes them.
 */
export interface ListedRow extends Omit<NotificationRow, 'user_id' | 'updated_at'>, Partial<ExtraColumns> {
  readonly updated_at: string | null;
  /** The change sequence, when the page is sorted by `updated_at`. */
  readonly place?: number;
}

/** Counting stops at this number. */
const countCap = 1000;

/** Up to this number, rows are skipped one by one. For more, the counts of blocks find the page. */
const maxSkipped = blockSize;

/** A row of the list, with the inbox row and the total. */
type ListRow = (InboxRow | ExtraInboxRow) & { total: number } & (ListedRow | { id: null });

/** One page of a user's inbox; undefined when there is no such inbox. */
export async function selectPage(
  handle: Queryable,
  userId: string,
  query: NotificationQuery,
): Promise<PageOfRows | undefined> {
  const found = await handle.query(listStatement(userId, query));
  const [first] = found;
  if (first === undefined) return undefined;
  const rows = found.filter((row) => row.id !== null);
  const totalIsExact = countIsFree(query) || query.countsExactly || first.total <= countCap;
  // If the rows are read backwards, the extra row is before the page.
  const isBackwards = query.anchor?.side === 'before';
  const page = isBackwards ? rows.slice(-query.limit) : rows.slice(0, query.limit);
  return {
    rows: page,
    hasNext: isBackwards ? page.length > 0 : rows.length > query.limit,
    total: totalIsExact ? first.total : countCap,
    totalIsExact,
    mark: Math.min(query.mark ?? first.last_change_sequence, first.last_change_sequence),
    state: 'state_version' in first ? extraStateOf(first) : stateOf(first),
  };
}

/**
 * Whether reading the page may scan the inbox. An index, or the counts of blocks, finds any other page.
 */
export function isExpensive(query: NotificationQuery): boolean {
  const { filter, view, countsExactly, since, anchor, page, limit, sort } = query;
  const skipsRows = anchor === undefined && sort.field !== 'created_at' && (page - 1) * limit > maxSkipped;
  return filter.length > 0 || view !== undefined || (countsExactly && since !== undefined) || skipsRows;
}

/** Whether no row has to be counted, because the inbox row already has the number of all rows. */
function countIsFree({ since, filter, view }: NotificationQuery): boolean {
  return since === undefined && filter.length === 0 && view === undefined;
}

/** The values of a list. Each statement uses only some of these values. */
interface ListValues {
  readonly userId: string;
  /** One more than the page's limit. The extra row shows that there is a next page. */
  readonly rows: number;
  readonly mark: number | undefined;
  readonly since: Instant | undefined;
  readonly anchor: number | undefined;
  readonly skip: number;
  readonly type: string | undefined;
}

/** The values as parts of a statement: named parameters of a prepared one, bound values of a composed one. */
type ListParts = { readonly [Name in keyof ListValues]: SqlPart };

/** Where a page starts: at the first row; at an anchor; or after some rows, which are skipped or counted by blocks. */
type Start = 'first' | 'after' | 'before' | 'offset' | 'blocks';

/** Statements without a filter, by name. There are few, so they are built once and stay prepared. */
const preparedLists = new Map<string, StatementWith<ListValues, ListRow>>();

/** Builds one statement for the whole list, so that the page, the count and the mark are from one snapshot. */
export function listStatement(userId: string, query: NotificationQuery): Statement<ListRow> {
  const { mark, since, anchor, page, limit, filter } = query;
  const values: ListValues = {
    userId,
    rows: limit + 1,
    mark,
    since,
    anchor: anchor?.place,
    skip: (page - 1) * limit,
    type: countedType(query),
  };
  if (filter.length > 0) return compose(listSql(query, boundParts(values)));
  const name = listName(query);
  const preparedList = preparedLists.get(name);
  if (preparedList !== undefined) return preparedList(values);
  const list = statement<ListValues, ListRow>(name, (p) => listSql(query, p));
  preparedLists.set(name, list);
  return list(values);
}

/** Names everything that decides the text of a statement without a filter. */
function listName(query: NotificationQuery): string {
  const { sort, since, mark, countsExactly, view, includesExtra } = query;
  let name = `notifications_list_${sort.field}_${sort.direction}`;
  if (includesExtra) name += '_extra';
  if (view !== undefined) name += countsExactly ? `_${view}_exact` : `_${view}`;
  if (since !== undefined) name += countsExactly ? '_since_exact' : '_since';
  if (mark !== undefined) name += '_mark';
  const start = startOf(query);
  return start === 'first' ? name : `${name}_${start}`;
}

function boundParts({ userId, rows, mark, since, anchor, skip, type }: ListValues): ListParts {
  return {
    userId: bound(userId),
    rows: bound(rows),
    mark: bound(mark),
    since: bound(since),
    anchor: bound(anchor),
    skip: bound(skip),
    type: bound(type),
  };
}

const pageColumns = join(
  columnNames
    .filter((column) => column !== 'user_id' && column !== 'updated_at')
    .map((column) => identifier(`page.${column}`)),
  ', ',
);

/**
 * The whole statement. Its parts depend on the query alone: `matching` gives the rows on all pages, and `start` the first
 * row of this page. A page before an anchor is read backwards, and sorted afterwards.
 */
function listSql(query: NotificationQuery, p: ListParts): Sql {
  const { sort, since, anchor, includesExtra } = query;
  const place = placeColumns[sort.field];
  const matching = matchingRows(query, p);
  const extra = (part: Sql) => (includesExtra ? part : sql``);
  const isBackwards = anchor?.side === 'before';
  const descending = sort.direction === 'desc';
  return sql`
    with recursive
    inbox as materialized (
      select ${stateColumns}, total, ${countedBlocks} as counted_blocks from inboxes where user_id = ${p.userId}
    )${since === undefined ? sql`` : sql`, ${boundsOf(sort.field, p.userId, sql`${p.since}::timestamptz`)}`}${extra(sql`, ${extraPosition(p.userId)}`)}
    select inbox.last_change_sequence, inbox.last_time, ${totalOf(query, p, matching)} as total, ${pageColumns},
           nullif(page.updated_at, page.created_at) as updated_at${sort.field === 'created_at' ? sql`` : sql`, page.place`}${extra(sql`, state_version, ended, ${extraColumns(sql`page.sequence`)}`)}
    from inbox${extra(sql` cross join position`)} left join (
      select ${notificationColumns}, ${place} as place${extra(sql`, ${itemColumns}`)}
      ${matching}${startCondition(query, p, matching)}
      order by ${place} ${order(isBackwards !== descending)}
      limit ${p.rows}
    ) page on true${extra(joinItemState(p.userId, sql`page.sequence`))}
    order by page.place ${order(descending)}`;
}

const order = (descending: boolean) => (descending ? sql`desc` : sql`asc`);

/** `from … where …` of the rows on all pages. */
function matchingRows({ sort, mark, since, filter, view }: NotificationQuery, p: ListParts): Sql {
  const conditions = [sql`user_id = ${p.userId}`];
  if (view !== undefined) conditions.push(viewCondition(view, sql`${p.userId}`));
  if (mark !== undefined) conditions.push(sql`sequence <= ${p.mark}::bigint`);
  if (since !== undefined) conditions.push(sql`${placeColumns[sort.field]} > ${placeOfSince}`);
  if (filter.length > 0) conditions.push(notificationCondition(filter));
  return sql`from notifications where ${join(conditions, ' and ')}`;
}

/** SQL: the position of the newest row that `since` leaves out, from the CTE `bounds`. */
const placeOfSince = sql`(select low from bounds where low = high)`;

/** The condition for the first row that is read; empty for the first page. */
function startCondition(query: NotificationQuery, p: ListParts, matching: Sql): Sql {
  const { sort, mark, since } = query;
  const place = placeColumns[sort.field];
  const descending = sort.direction === 'desc';
  const start = startOf(query);
  switch (start) {
    case 'first':
      return sql``;
    case 'after':
    case 'before':
      return (start === 'after') === descending
        ? sql` and ${place} < ${p.anchor}::bigint`
        : sql` and ${place} > ${p.anchor}::bigint`;
    case 'offset': {
      const first = sql`select ${place} ${matching} order by ${place} ${order(descending)} offset ${p.skip}::bigint limit 1`;
      return descending ? sql` and ${place} <= (${first})` : sql` and ${place} >= (${first})`;
    }
    case 'blocks': {
      const newest = mark === undefined ? sql`(select last_change_sequence from inbox)` : sql`${p.mark}::bigint`;
      const oldest = since === undefined ? sql`0` : placeOfSince;
      const first = placeInBlocks({
        userId: p.userId,
        direction: sort.direction,
        from: descending ? newest : oldest,
        type: query.filter.length === 0 ? undefined : sql`${p.type}::text`,
        skip: sql`${p.skip}::bigint`,
      });
      return descending ? sql` and ${place} <= (${first})` : sql` and ${place} >= (${first})`;
    }
  }
}

function startOf(query: NotificationQuery): Start {
  if (query.anchor !== undefined) return query.anchor.side;
  const skip = (query.page - 1) * query.limit;
  if (skip === 0) return 'first';
  const hasCounts = query.view === undefined && (query.filter.length === 0 || countedType(query) !== undefined);
  return hasCounts && query.sort.field === 'created_at' && skip > maxSkipped ? 'blocks' : 'offset';
}

/** The type, if the filter asks for exactly one type. The counts of blocks can then replace reading rows. */
function countedType({ filter }: NotificationQuery): string | undefined {
  const [clause] = filter;
  if (filter.length !== 1 || clause?.name !== 'notification_type' || clause.operator !== 'eq') return undefined;
  return clause.values.length === 1 ? clause.values[0] : undefined;
}

/** SQL: the number of rows on all pages, up to one more than `countCap` unless the query counts exactly. */
function totalOf(query: NotificationQuery, p: ListParts, matching: Sql): Sql {
  if (countIsFree(query)) {
    // With a mark, the rows that arrived after the mark are counted by blocks, and subtracted.
    if (query.mark === undefined) return sql`inbox.total`;
    return sql`inbox.total - ${rowsBeyond(p.userId, sql`${p.mark}::bigint`)}`;
  }
  if (query.countsExactly) return sql`(select count(*) ${matching})`;
  // With an order, the statement reads by the index. Without one, the planner may scan the table instead.
  const { field, direction } = query.sort;
  const place = placeColumns[field];
  return sql`(
      select count(*) from (
        select ${matching} order by ${place} ${order(direction === 'desc')} limit ${literal(countCap + 1)}
      ) counted
    )`;
}
