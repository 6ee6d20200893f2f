import { arrayText } from '../database/array-text.js';
import { prepared, type Queryable, type Statement, sql } from '../database/database.js';
import type { FilterClause } from '../lib/filter/fields.js';
import { filterSql } from '../lib/filter/sql.js';
import type { Instant } from '../lib/times.js';
import { blockSize, countedBlocks, placeInBlocks, rowsBeyond } from './blocks.js';
import type { Anchor, NotificationSort } from './cursor.js';
import { type NotificationRow, notificationColumns } from './row.js';

/** Which notifications of an inbox, in which order. */
export interface NotificationQuery {
  /** From 1. With an anchor it only says how the page is called. */
  readonly page: number;
  readonly limit: number;
  readonly sort: NotificationSort;
  /** Strictly after, against the time that is sorted by. */
  readonly since?: Instant;
  readonly filter: readonly FilterClause[];
  /** Leaves out what arrived after this sequence, so that the pages of a walk do not shift. */
  readonly mark?: number;
  /** Where the page lies, in a walk. Found by the index, however deep: nothing is counted or skipped. */
  readonly anchor?: Anchor;
  /** Counts beyond `countCap` where the count is not free. */
  readonly countsExactly: boolean;
}

export interface PageOfRows {
  readonly rows: readonly ListedRow[];
  readonly hasNext: boolean;
  /** How many the query has on all its pages. */
  readonly total: number;
  /** False: there are more than `total`. */
  readonly totalIsExact: boolean;
  /** The mark that keeps further pages in line with this one. */
  readonly mark: number;
  readonly state: InboxState;
}

/** The state of an inbox, as its head says it. */
export interface InboxState {
  /** Every change of the inbox raises it. */
  readonly changeSequence: number;
  /** The same with the time of the last change. A restored database may use a number again, but not with the same time. */
  readonly stamp: string;
}

/** A row of a page. It lacks the user, which all rows share; `updated_at` is null where it equals `created_at`. */
export interface ListedRow extends Omit<NotificationRow, 'user_id' | 'updated_at'> {
  readonly updated_at: string | null;
  /** Where the row lies in the order of its changes, if the page has that order. */
  readonly place?: number;
}

/** A count that is not free stops here. */
const countCap = 1000;

/** Rows that are skipped one by one before it pays to look for the place of a page in the counts of blocks. */
const skippable = blockSize;

/** created_at grows with sequence and updated_at with change_sequence: each pair is one order with one index. */
const places = { created_at: 'sequence', updated_at: 'change_sequence' } as const;

interface HeadRow {
  last_change_sequence: number;
  last_time: string;
}

/** The time as text: an inbox in which nothing has happened has none. */
const headState = 'last_change_sequence, last_time::text as last_time';

const selectHead = prepared('inboxes_head', `select ${headState} from inboxes where user_id = $1`);

/** The state of an inbox, by its primary key. Undefined when there is no such inbox. */
export async function selectState(handle: Queryable, userId: string): Promise<InboxState | undefined> {
  const [head] = await handle.query<HeadRow>(selectHead, [userId]);
  return head && stateOf(head);
}

/** Lateral and limited, so that each key is looked up by the index; a scalar subquery, so that one plan serves all lengths. */
const selectHeads = prepared(
  'inboxes_heads',
  `select asked.place, ${headState}
   from unnest((select $1::uuid[])) with ordinality asked (user_id, place)
   cross join lateral (select * from inboxes where user_id = asked.user_id limit 1) head`,
);

/** The same of several inboxes, in the order of the users. */
export async function selectStates(handle: Queryable, userIds: readonly string[]): Promise<(InboxState | undefined)[]> {
  const found = new Map<number, InboxState>();
  for (const row of await handle.query<HeadRow & { place: number }>(selectHeads, [arrayText(userIds)])) {
    found.set(row.place, stateOf(row));
  }
  return userIds.map((_, index) => found.get(index + 1));
}

function stateOf({ last_change_sequence: changeSequence, last_time: time }: HeadRow): InboxState {
  return { changeSequence, stamp: `${changeSequence} ${time}` };
}

/** The head and the count come with each row. */
type ListRow = HeadRow & { total: number } & (ListedRow | { id: null });

const pageColumns = notificationColumns
  .split(',')
  .map((column) => `page.${column.trim()}`)
  .filter((column) => column !== 'page.user_id' && column !== 'page.updated_at')
  .join(', ');

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
  // Read backwards, the row too many lies before the page.
  const isBackwards = query.anchor?.side === 'before';
  const page = isBackwards ? rows.slice(-query.limit) : rows.slice(0, query.limit);
  return {
    rows: page,
    hasNext: isBackwards ? page.length > 0 : rows.length > query.limit,
    total: totalIsExact ? first.total : countCap,
    totalIsExact,
    mark: Math.min(query.mark ?? first.last_change_sequence, first.last_change_sequence),
    state: stateOf(first),
  };
}

/** One statement, so that page, count and mark are of one snapshot. It names one user, and reads one row too many. */
export function listStatement(userId: string, query: NotificationQuery): { statement: Statement; values: unknown[] } {
  const { sort, limit, mark, since, anchor } = query;
  const place = places[sort.field];
  const values: unknown[] = [userId, limit + 1];
  const value = (of: unknown, type: string) => `$${values.push(of)}::${type}`;

  const markValue = mark === undefined ? undefined : value(mark, 'bigint');
  const bounds = since === undefined ? '' : `, ${boundsOf(sort.field, value(since, 'timestamptz'))}`;
  const low = since === undefined ? '0' : '(select low from bounds where low = high)';
  const matching = [
    'from notifications where user_id = $1',
    markValue && `sequence <= ${markValue}`,
    since && `${place} > ${low}`,
    filterSql(query.filter, values),
  ]
    .filter((condition) => condition !== undefined)
    .join(' and ');
  const start = startOf(query, { place, matching, low, mark: markValue, value });
  const isBackwards = (anchor?.side === 'before') !== (sort.direction === 'desc');

  const text = `with recursive head as materialized (
      select ${headState}, total, ${countedBlocks} as counted_blocks from inboxes where user_id = $1
    )${bounds}
    select head.last_change_sequence, head.last_time, ${totalOf(query, matching, markValue)} as total, ${pageColumns},
      nullif(page.updated_at, page.created_at) as updated_at${place === 'sequence' ? '' : ', page.place'}
    from head left join (
      select ${notificationColumns}, ${place} as place ${matching}${start.condition}
      order by ${place} ${isBackwards ? 'desc' : 'asc'} limit $2
    ) page on true
    order by page.place ${sort.direction}`;
  // Texts without a filter are few: they are worth keeping prepared.
  const shape = [
    sort.field,
    sort.direction,
    since && (query.countsExactly ? 'since_exact' : 'since'),
    mark !== undefined && 'mark',
    start.name,
  ];
  const name = `notifications_list_${shape.filter((part) => part).join('_')}`;
  return { statement: query.filter.length > 0 ? sql(text) : prepared(name, text), values };
}

/**
 * Whether reading the page may take a scan of the inbox. Everything else is found by an index, or by the counts of blocks.
 */
export function isCostly({ filter, countsExactly, since, anchor, page, limit, sort }: NotificationQuery): boolean {
  const skipsRows = anchor === undefined && sort.field !== 'created_at' && (page - 1) * limit > skippable;
  return filter.length > 0 || (countsExactly && since !== undefined) || skipsRows;
}

interface Terms {
  readonly place: string;
  /** `from … where …` of all rows that the query has, on whatever page. */
  readonly matching: string;
  /** SQL of the place up to which rows are too old. */
  readonly low: string;
  readonly mark: string | undefined;
  readonly value: (of: unknown, type: string) => string;
}

/** Where the page starts: at an anchor; at a number, which is looked for in the counts where they can tell; or nowhere. */
function startOf(query: NotificationQuery, terms: Terms): { condition: string; name: string | false } {
  const { anchor, page, limit, sort } = query;
  const { place, matching, value } = terms;
  if (anchor !== undefined) {
    const isBelow = (anchor.side === 'after') === (sort.direction === 'desc');
    return { condition: ` and ${place} ${isBelow ? '<' : '>'} ${value(anchor.place, 'bigint')}`, name: anchor.side };
  }
  const skip = (page - 1) * limit;
  if (skip === 0) return { condition: '', name: false };
  const comparison = sort.direction === 'desc' ? '<=' : '>=';
  const type = countedType(query);
  if (type === undefined || skip <= skippable) {
    const skipped = value(skip, 'bigint');
    const first = `select ${place} ${matching} order by ${place} ${sort.direction} offset ${skipped} limit 1`;
    return { condition: ` and ${place} ${comparison} (${first})`, name: 'offset' };
  }
  const first = placeInBlocks({
    direction: sort.direction,
    from: sort.direction === 'asc' ? terms.low : (terms.mark ?? '(select last_change_sequence from head)'),
    type: type === 'any' ? undefined : value(type.name, 'text'),
    skip: value(skip, 'bigint'),
  });
  return { condition: ` and ${place} ${comparison} (${first})`, name: 'blocks' };
}

/** The type whose rows the query asks for, if the counts of blocks know how many there are anywhere. */
function countedType({ sort, filter }: NotificationQuery): 'any' | { readonly name: string } | undefined {
  if (sort.field !== 'created_at') return undefined;
  const [clause] = filter;
  if (clause === undefined) return 'any';
  const [name] = clause.values;
  const isOneType = clause.name === 'notification_type' && clause.operator === 'eq' && clause.values.length === 1;
  return filter.length === 1 && isOneType && name !== undefined ? { name } : undefined;
}

/** Every row of the inbox is counted in the head already. */
function countIsFree({ since, filter }: NotificationQuery): boolean {
  return since === undefined && filter.length === 0;
}

function totalOf(query: NotificationQuery, matching: string, mark: string | undefined): string {
  // Of the marked inbox nothing is counted but what arrived since, and that by blocks.
  if (countIsFree(query)) return mark === undefined ? 'head.total' : `head.total - ${rowsBeyond(mark)}`;
  // In order, so that it goes by the index: a scan of the table, through everybody's rows, would seem to find enough soon.
  const some = `select ${matching} order by ${places[query.sort.field]} ${query.sort.direction} limit ${countCap + 1}`;
  const counted = query.countsExactly ? matching : `from (${some}) counted`;
  return `(select count(*) ${counted})`;
}

/**
 * Where `since` lies in the order: every row up to `low` is at most that old, every row beyond `high` is newer, and the
 * last step has both equal. It needs a `head` before it, and the user as `$1`. A bisection, of one look into the index each, instead of an index on the time or of a scan
 * through all that is older, which a poll for news would be.
 */
export function boundsOf(field: NotificationSort['field'], since: string): string {
  const place = places[field];
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
