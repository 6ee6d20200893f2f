import { type FilterClause, kinds } from '../lib/filter/fields.js';
import type { Queryable } from './database.js';
import { bound, compose, identifier, join, type Sql, sql } from './sql.js';

/**
 * Which page of a list to read, and in which order. `sort` contains column names, which must come from a fixed list.
 */
export interface ListRequest {
  /**
   * The number of the page, from 1. If there is an anchor, the anchor selects the rows and the answer only repeats this
   * number.
   */
  readonly page: number;
  readonly limit: number;
  readonly sort: readonly SortColumn[];
  /** Only rows strictly newer than this time. */
  readonly since?: string;
  readonly filter: readonly FilterClause[];
  /** Where the page starts or ends, if the request has a cursor. */
  readonly anchor?: RowAnchor;
}

export interface SortColumn<Field extends string = string> {
  /** A column of type timestamptz that is never null. */
  readonly field: Field;
  readonly direction: 'asc' | 'desc';
}

/** The page starts right after the row with this key, or ends right before it. */
export interface RowAnchor {
  readonly side: 'after' | 'before';
  readonly key: RowKey;
}

/** A row's place in the order: the values of the sort columns (RFC 3339), and then its id. */
export type RowKey = readonly string[];

/** One page of a list. */
export interface Page<Item> {
  readonly items: Item[];
  /** Number of rows on all pages, counted up to a thousand. */
  readonly total: number;
  readonly totalIsExact: boolean;
  readonly hasMore: boolean;
  /**
   * The keys of the first and the last item; undefined for an empty page. In a partial page, `last` is the last key
   * that was read.
   */
  readonly ends?: { readonly first: RowKey; readonly last: RowKey };
  /** Why items may be missing. The next page continues where this one stopped. Undefined for a complete page. */
  readonly partial?: PartialReason;
}

/** `time`: the time limit ended the search. `index`: the time limit ended the search, which had no index. */
export type PartialReason = 'time' | 'index';

/** The SQL of a list. Each row has an `id` that is unique in the list, and the sort columns. */
export interface ListSource {
  readonly columns: Sql;
  readonly from: Sql;
  readonly where?: Sql;
  readonly filterExpressions?: FilterExpressions;
}

/** The maximum number of rows that a list counts. */
export const countCap = 1000;

/**
 * Reads one page. A page with an anchor is found by its key (decision 32), and any other page by OFFSET: pages far from
 * the start are rare, and the statement timeout limits them. Ties are ordered by `id`.
 */
export async function readPage<Row extends { readonly id: string }>(
  handle: Queryable,
  source: ListSource,
  request: ListRequest,
): Promise<Page<Row>> {
  const { page, limit, anchor } = request;
  const matching = matchingRows(source, request);
  const rows = await handle.query(selectRows<Row>(source, request, matching));
  // The query reads one extra row, which is not part of the page.
  const isBackwards = anchor?.side === 'before';
  const items = isBackwards ? rows.slice(0, limit).reverse() : rows.slice(0, limit);
  const hasMore = isBackwards ? items.length > 0 : rows.length > limit;
  const ends = endsOf(items, request.sort);
  if (anchor === undefined && !hasMore && (items.length > 0 || page === 1)) {
    return { items, hasMore, total: (page - 1) * limit + items.length, totalIsExact: true, ...ends };
  }
  const [countRow] = await handle.query(countRows(matching));
  const total = countRow?.total ?? 0;
  return { items, hasMore, total: Math.min(total, countCap), totalIsExact: total <= countCap, ...ends };
}

/** Reads one row more than the limit. The extra row shows that there is a next page. */
function selectRows<Row extends object>(
  { columns }: ListSource,
  { page, limit, sort, anchor }: ListRequest,
  matching: Sql,
) {
  const order = rowOrder(sort, anchor?.side === 'before');
  const start = anchor === undefined ? sql`` : sql` and ${order.isBeyond(anchor.key)}`;
  const offset = anchor === undefined ? (page - 1) * limit : 0;
  return compose<Row>(
    sql`select ${columns} ${matching}${start}
        order by ${order.terms} limit ${bound(limit + 1)} offset ${bound(offset)}`,
  );
}

/** The order of rows with an `id` and the sort columns. */
export interface RowOrder {
  /** SQL: what follows `order by`. */
  readonly terms: Sql;
  /** SQL: whether a row comes after the row with this key. */
  isBeyond(key: RowKey): Sql;
  keyOf(row: object): RowKey;
}

/** @param isBackwards whether the rows are read from the end */
export function rowOrder(sort: readonly SortColumn[], isBackwards: boolean): RowOrder {
  const order = isBackwards ? reversed(withId(sort)) : withId(sort);
  return {
    terms: join(order.map(orderTerm), ', '),
    isBeyond: (key) => isBeyond(order, key),
    keyOf: (row) => order.map(({ field }) => String(Reflect.get(row, field))),
  };
}

function countRows(matching: Sql) {
  return compose<{ total: number }>(
    sql`select count(*)::int as total from (select 1 ${matching} limit ${bound(countCap + 1)}) counted`,
  );
}

/** `from … where …` of the rows on all pages. */
function matchingRows(source: ListSource, { sort, since, filter }: ListRequest): Sql {
  const conditions = [source.where ?? sql`true`, filterCondition(filter, source.filterExpressions)];
  conditions.push(sinceCondition({ sort, ...(since !== undefined && { since }) }));
  return sql`from ${source.from} where ${join(conditions, ' and ')}`;
}

/** SQL: whether a row is newer than `since`, by the column of the first sort. */
export function sinceCondition({ sort, since }: Pick<ListRequest, 'sort' | 'since'>): Sql {
  if (since === undefined) return sql`true`;
  const column = sort[0]?.field === 'updated_at' ? sql`updated_at` : sql`created_at`;
  return sql`${column} > ${bound(since)}::timestamptz`;
}

/** The order with `id` as its last column, in the direction of the column before. */
function withId(sort: readonly SortColumn[]): readonly SortColumn[] {
  return [...sort, { field: 'id', direction: sort.at(-1)?.direction ?? 'desc' }];
}

function reversed(order: readonly SortColumn[]): readonly SortColumn[] {
  return order.map(({ field, direction }) => ({ field, direction: direction === 'asc' ? 'desc' : 'asc' }));
}

function orderTerm({ field, direction }: SortColumn): Sql {
  return direction === 'asc' ? sql`${identifier(field)} asc` : sql`${identifier(field)} desc`;
}

/**
 * The condition of the rows after a key. If all columns have one direction, it is a row comparison, whose start an
 * index can find. Mixed directions need one alternative for each column.
 */
function isBeyond(order: readonly SortColumn[], key: RowKey): Sql {
  const terms = order.map(({ field, direction }, index) => ({
    column: identifier(field),
    value: field === 'id' ? sql`${bound(key[index])}::uuid` : sql`${bound(key[index])}::timestamptz`,
    comparator: direction === 'asc' ? sql`>` : sql`<`,
    direction,
  }));
  const [first] = terms;
  if (first !== undefined && terms.every(({ direction }) => direction === first.direction)) {
    const columns = terms.map(({ column }) => column);
    const values = terms.map(({ value }) => value);
    return sql`(${join(columns, ', ')}) ${first.comparator} (${join(values, ', ')})`;
  }
  const alternatives = terms.map(({ column, comparator, value }, place) => {
    const equal = terms.slice(0, place).map((term) => sql`${term.column} = ${term.value}`);
    return sql`(${join([...equal, sql`${column} ${comparator} ${value}`], ' and ')})`;
  });
  return sql`(${join(alternatives, ' or ')})`;
}

function endsOf<Row extends { readonly id: string }>(
  items: readonly Row[],
  sort: readonly SortColumn[],
): Pick<Page<Row>, 'ends'> {
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return {};
  const { keyOf } = rowOrder(sort, false);
  return { ends: { first: keyOf(first), last: keyOf(last) } };
}

/** SQL for filter fields that are not columns with the same name. */
export type FilterExpressions = Readonly<Record<string, Sql>>;

const comparators = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const;

/** The types that values are cast to, of one value and of several. */
const casts = {
  uuid: [sql`::uuid`, sql`::uuid[]`],
  text: [sql`::text`, sql`::text[]`],
  numeric: [sql`::numeric`, sql`::numeric[]`],
  bigint: [sql`::bigint`, sql`::bigint[]`],
  timestamptz: [sql`::timestamptz`, sql`::timestamptz[]`],
} as const;

/**
 * The SQL condition of a filter; `true` for an empty one. Same meaning as `matches` in `lib/filter/match.ts`, where null
 * counts as false.
 */
export function filterCondition(clauses: readonly FilterClause[], expressions: FilterExpressions = {}): Sql {
  if (clauses.length === 0) return sql`true`;
  return join(
    clauses.map((clause) => clauseCondition(clause, expressions)),
    ' and ',
  );
}

function clauseCondition({ name, field, operator, values }: FilterClause, expressions: FilterExpressions): Sql {
  const column = expressions[name] ?? identifier(name);
  const [castOfOne, castOfSeveral] = casts[kinds[field.kind].sqlType];
  const [first = ''] = values;
  const one = sql`${bound(operator === 'like' ? likePattern(first) : first)}${castOfOne}`;
  const many = sql`${bound(values)}${castOfSeveral}`;
  const isSingle = values.length === 1;
  switch (operator) {
    case 'eq':
      return isSingle ? sql`${column} = ${one}` : sql`${column} = any(${many})`;
    case 'neq':
      return isSingle ? sql`${column} is distinct from ${one}` : sql`(${column} is null or ${column} <> all(${many}))`;
    case 'like':
      return sql`${column} ilike ${one}`;
    default:
      return sql`${column} ${comparators[operator]} ${one}`;
  }
}

/** The pattern of values that contain the text. Backslash is the escape character of LIKE unless a query says otherwise. */
export function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
