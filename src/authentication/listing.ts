import { type Queryable, sql } from '../database/database.js';
import type { FilterClause } from '../lib/filter/fields.js';
import { filterSql } from '../lib/filter/sql.js';

/** Which part of a list is asked for, in which order. Fields of `sort` are columns: they come from a list of ours. */
export interface ListRequest {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  readonly sort: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[];
  /** Only what came strictly after this time. */
  readonly since?: string;
  readonly filter: readonly FilterClause[];
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: Item[];
  /** How many there are in all, counted up to a thousand. */
  readonly total: number;
  readonly totalIsExact: boolean;
  readonly hasMore: boolean;
}

/** What a list shows, as SQL. `values` are the parameters `$1` and so on of `from` and `where`. */
export interface ListSource {
  readonly columns: string;
  readonly from: string;
  readonly where?: string;
  readonly values?: readonly unknown[];
}

const MOST_COUNTED = 1000;

/**
 * Reads one page. Paged by OFFSET: these lists are for people and scripts of an operator, where a page far down is rare and the
 * statement's timeout bounds it. Ties are broken by `id`.
 */
export async function readPage<Row extends object>(
  handle: Queryable,
  source: ListSource,
  request: ListRequest,
): Promise<Page<Row>> {
  const { page, limit } = request;
  const values = [...(source.values ?? [])];
  const matching = `from ${source.from} where ${conditions(source, request, values)}`;
  const offset = (page - 1) * limit;
  // One more than asked for says whether there is a next page.
  const rows = await handle.query<Row>(
    sql(`select ${source.columns} ${matching} order by ${order(request.sort)} limit ${limit + 1} offset ${offset}`),
    values,
  );
  const items = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  if (!hasMore && (items.length > 0 || page === 1)) {
    return { items, hasMore, total: offset + items.length, totalIsExact: true };
  }
  const counting = sql(`select count(*)::int as total from (select 1 ${matching} limit ${MOST_COUNTED + 1}) counted`);
  const [counted] = await handle.query<{ total: number }>(counting, values);
  const total = counted?.total ?? 0;
  return { items, hasMore, total: Math.min(total, MOST_COUNTED), totalIsExact: total <= MOST_COUNTED };
}

function conditions({ where = 'true' }: ListSource, { sort, since, filter }: ListRequest, values: unknown[]): string {
  const all = [where, filterSql(filter, values)];
  if (since !== undefined) {
    const field = sort[0]?.field === 'updated_at' ? 'updated_at' : 'created_at';
    values.push(since);
    all.push(`${field} > $${values.length}::timestamptz`);
  }
  return all.join(' and ');
}

function order(sort: ListRequest['sort']): string {
  const direction = sort.at(-1)?.direction ?? 'desc';
  return [...sort, { field: 'id', direction }].map((key) => `${key.field} ${key.direction}`).join(', ');
}
