import pg from 'pg';
import type { Database, Queryable } from '../../database/database.js';
import {
  countCap,
  type ListRequest,
  type Page,
  type PartialReason,
  type RowKey,
  type RowOrder,
  rowOrder,
  sinceCondition,
} from '../../database/listing.js';
import { bound, compose, join, literal, type Sql, sql } from '../../database/sql.js';
import { createConcurrencyLimiter } from '../../lib/concurrency-limiter.js';
import { Problem } from '../../lib/problem.js';
import { searchIndex } from '../../schema/late-indexes.js';

/** The conditions of a search. */
export interface FindRequest extends Omit<ListRequest, 'filter'> {
  /** SQL on the user `u`. */
  readonly condition: Sql;
  readonly by: FindMethod;
}

/**
 * How users that are not among the first rows are found. `trigram` and `index`: with the index of searches, whose
 * entries are groups of three letters or digits. `trigram`: the text is exactly one such group. `scan`: no index helps,
 * so rows are read in the order of the list. `planner`: the planner of PostgreSQL decides.
 */
export type FindMethod = 'trigram' | 'index' | 'scan' | 'planner';

/** Finds the ids of one page of users that match a condition, within a time limit (decision 21). */
export type FindUsers = (request: FindRequest) => Promise<Page<FoundRow>>;

export interface FinderOptions {
  readonly database: Database;
  /** The maximum number of searches that run at the same time. */
  readonly concurrency: number;
  /** Rows that are read in the order of the list before an index is used. */
  readonly firstRows?: number;
  readonly limits?: Limits;
}

/** Milliseconds. */
interface Limits {
  /** The limit of one search, without its count. */
  readonly search: number;
  /** The limit of the statement that uses an index. */
  readonly indexed: number;
  /** The limit of the statement that counts. */
  readonly count: number;
}

export interface FoundRow {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const defaultLimits: Limits = { search: 3000, indexed: 1500, count: 500 };
/**
 * The number of rows that are read before an index is used. Reading them takes about 10 ms, and finds a full page of 20
 * users if at least one in 200 users has the text.
 */
const defaultFirstRows = 5000;
/** Further rows that are read in the order of the list, if they are likely to fill the page. */
const maxLikelyRows = 25_000;
/** Rows before the page that are kept in memory. For a page with more rows before it, the database skips these rows. */
const maxSkippedRows = 10_000;
/** The time in milliseconds that one step should take, and the maximum number of rows of a step. */
const step = { duration: 200, mostRows: 100_000 };
/** Entries that the index returns for one trigram. They are chosen at random, and suffice to count up to the cap. */
const sampledEntries = 5000;
/** Rows that are read to count users whom no index finds. This takes about 100 ms. */
const maxCountedRows = 100_000;
/** Above this share of matching rows, reading rows in any order counts them faster than the index does. */
const commonShare = 0.05;

/** Creates a finder that runs at most `concurrency` searches at a time. */
export function createFinder(options: FinderOptions): FindUsers {
  const limiter = createConcurrencyLimiter({ concurrency: options.concurrency, maxWaiting: 100, timeoutMs: 2000 });
  return (request) => limiter(() => find(options, request));
}

async function find(options: FinderOptions, request: FindRequest): Promise<Page<FoundRow>> {
  const { database, firstRows = defaultFirstRows, limits = defaultLimits } = options;
  const { page, limit, anchor, sort } = request;
  const order = rowOrder(sort, anchor?.side === 'before');
  const skipped = anchor === undefined ? (page - 1) * limit : 0;
  const reading = startReading(database, request, { order, needed: skipped + limit + 1 });
  const deadline = performance.now() + limits.search;
  const isLate = () => performance.now() >= deadline;
  if (skipped > maxSkippedRows) {
    const indexedPage = await findIndexed(database, request, { order, skipped, limits });
    return indexedPage ?? { items: [], hasMore: false, total: 0, totalIsExact: false, partial: 'time' };
  }

  await reading.read(firstRows);
  while (!reading.isDone() && !isLate() && reading.likelyRows() <= maxLikelyRows) {
    await reading.read(reading.likelyRows());
  }
  if (!reading.isDone()) {
    const hasIndex = !usesSearchIndex(request.by) || (await isSearchIndexed(database));
    const indexed =
      hasIndex && request.by !== 'scan' && !isLate()
        ? await findIndexed(database, request, { order, skipped, limits })
        : undefined;
    if (indexed !== undefined) return indexed;
    while (!reading.isDone() && !isLate()) await reading.read(reading.affordableRows());
    if (!reading.isDone()) return partialPage(request, reading, skipped, hasIndex ? 'time' : 'index');
  }
  const { rows, share } = reading;
  const found = pageOf(request, rows.slice(skipped, skipped + limit + 1));
  const isWhole = rows.length <= skipped + limit && anchor === undefined && (rows.length > skipped || page === 1);
  if (isWhole) return { ...found, total: rows.length, totalIsExact: true };
  if (request.by === 'scan') return { ...found, ...(await countByReading(database, request)) };
  return { ...found, ...(await count(database, request, { share: share(), least: rows.length, limits })) };
}

/** Whether the index of searches finds the text of the search. */
const usesSearchIndex = (method: FindMethod) => method === 'index' || method === 'trigram';

/** A count that stopped before it was complete. */
const atLeast = (known: number) => ({ total: Math.min(known, countCap), totalIsExact: false });

/** Reads the rows of a list in their order, and collects the rows that match. */
interface Reading {
  /** The matching rows that were read so far, up to the number that is wanted. */
  readonly rows: FoundRow[];
  /** The key of the last row that was read. */
  readonly reached: () => RowKey | undefined;
  readonly isDone: () => boolean;
  /** The share of rows that match. */
  readonly share: () => number;
  /** How many further rows probably contain the rest of the wanted rows. */
  readonly likelyRows: () => number;
  /** How many rows can be read in one step. */
  readonly affordableRows: () => number;
  /** Reads up to this number of further rows. Stops earlier when it has found the wanted rows. */
  read(count: number): Promise<void>;
}

function startReading(
  handle: Queryable,
  request: FindRequest,
  { order, needed: maxRows }: { readonly order: RowOrder; readonly needed: number },
): Reading {
  const rows: FoundRow[] = [];
  let reached = request.anchor?.key;
  let rowsRead = 0;
  let atEnd = false;
  let rowsPerMs = 20;
  const share = () => rows.length / Math.max(1, rowsRead);
  return {
    rows,
    share,
    reached: () => reached,
    isDone: () => atEnd || rows.length >= maxRows,
    likelyRows: () =>
      rows.length === 0 ? Number.POSITIVE_INFINITY : Math.ceil((1.5 * (maxRows - rows.length)) / share()),
    affordableRows: () => Math.min(step.mostRows, Math.max(1000, Math.round(rowsPerMs * step.duration))),
    async read(maxRead) {
      const since = performance.now();
      const missing = maxRows - rows.length;
      const read = await handle.query(readRows(request, order, { from: reached, maxRead, missing }));
      const matching = read.filter((row) => row.matches);
      rows.push(...matching);
      const last = read.at(-1);
      if (last !== undefined) reached = order.keyOf(last);
      const isCut = matching.length === missing;
      const place = isCut ? (last?.place ?? 0) : maxRead;
      atEnd = !isCut && last?.place !== maxRead;
      rowsRead += place;
      rowsPerMs = place / Math.max(1, performance.now() - since);
    },
  };
}

interface ReadRow extends FoundRow {
  readonly matches: boolean;
  /** The number of the row among the rows that were read, from 1. */
  readonly place: number;
}

/** Reads rows after a key. Returns the rows that match, at most the missing number, and the last row that was read. */
function readRows(
  { condition, ...request }: FindRequest,
  order: RowOrder,
  { from, maxRead, missing }: { readonly from: RowKey | undefined; readonly maxRead: number; readonly missing: number },
) {
  const start = from === undefined ? sql`true` : order.isBeyond(from);
  return compose<ReadRow>(
    sql`select id, created_at, updated_at, matches, place::int from (
          select u.id, u.created_at, u.updated_at, (${condition}) is true as matches,
                 row_number() over (order by ${order.terms}) as place
          from users u where ${sinceCondition(request)} and ${start}
          order by ${order.terms} limit ${literal(maxRead)}) found
        where matches or place = ${literal(maxRead)}
        order by ${order.terms} limit ${bound(missing)}`,
  );
}

/**
 * Finds the page and counts with an index. The statement for a search collects all matching users, and so counts them.
 * @returns undefined when it takes too long
 */
async function findIndexed(
  database: Database,
  request: FindRequest,
  { order, skipped, limits }: { readonly order: RowOrder; readonly skipped: number; readonly limits: Limits },
): Promise<Page<FoundRow> | undefined> {
  const { limit, anchor, by } = request;
  const start = anchor === undefined ? sql`true` : order.isBeyond(anchor.key);
  const ordered = sql`order by ${order.terms} limit ${bound(limit + 1)} offset ${bound(skipped)}`;
  const matching = sql`from users u where ${sinceCondition(request)} and ${request.condition}`;
  const statement = usesSearchIndex(by)
    ? sql`with matching as materialized (select u.id, u.created_at, u.updated_at ${matching})
            select id, created_at, updated_at, (select count(*)::int from matching) as total
            from matching where ${start} ${ordered}`
    : sql`select u.id, u.created_at, u.updated_at, null::int as total ${matching} and ${start} ${ordered}`;
  const rows = await withStatementTimeout(database, by, limits.indexed, (tx) =>
    tx.query(compose<FoundRow & { total: number | null }>(statement)),
  );
  if (rows === undefined) return undefined;
  const page = pageOf(request, rows);
  const isWhole = rows.length <= limit && anchor === undefined && (rows.length > 0 || request.page === 1);
  const total = isWhole ? skipped + rows.length : rows[0]?.total;
  if (typeof total === 'number')
    return { ...page, total: Math.min(total, countCap), totalIsExact: total <= countCap || isWhole };
  return { ...page, ...(await count(database, request, { share: 0, least: skipped + rows.length, limits })) };
}

/** Counts the matching users up to the cap. If this takes too long, the count is the number that is known. */
async function count(
  database: Database,
  request: FindRequest,
  { share, least, limits }: { readonly share: number; readonly least: number; readonly limits: Limits },
): Promise<Pick<Page<object>, 'total' | 'totalIsExact'>> {
  const isIndexed = usesSearchIndex(request.by) && share < commonShare && (await isSearchIndexed(database));
  const total = await withStatementTimeout(database, isIndexed ? request.by : 'planner', limits.count, async (tx) => {
    if (!isIndexed || request.by !== 'trigram') return countUpToCap(tx, request);
    await limitIndexEntries(tx, sampledEntries);
    const sampled = await countUpToCap(tx, request);
    if (sampled > countCap) return sampled;
    await limitIndexEntries(tx, 0);
    return countUpToCap(tx, request);
  });
  if (total === undefined) return atLeast(least);
  return { total: Math.min(total, countCap), totalIsExact: total <= countCap };
}

/** Counts the matching users among the first rows of the list. */
async function countByReading(
  database: Database,
  { anchor: _page, ...list }: FindRequest,
): Promise<Pick<Page<object>, 'total' | 'totalIsExact'>> {
  const maxRows = countCap + 1;
  const reading = startReading(database, list, { order: rowOrder(list.sort, false), needed: maxRows });
  await reading.read(maxCountedRows);
  const known = reading.rows.length;
  return reading.isDone() && known < maxRows ? { total: known, totalIsExact: true } : atLeast(known);
}

/**
 * Limits the number of rows that a GIN index returns for one entry. PostgreSQL chooses the rows at random. 0: no limit.
 */
const limitIndexEntries = (tx: Queryable, entries: number) =>
  tx.query(compose<object>(sql`select set_config('gin_fuzzy_search_limit', ${bound(String(entries))}, true)`));

/** Counts the matching users, up to one more than the cap. */
async function countUpToCap(tx: Queryable, request: FindRequest): Promise<number> {
  const [counted] = await tx.query(
    compose<{ total: number }>(
      sql`select count(*)::int as total from (
            select 1 from users u where ${join([sinceCondition(request), request.condition], ' and ')}
            limit ${bound(countCap + 1)}) counted`,
    ),
  );
  return counted?.total ?? 0;
}

/**
 * Runs a statement with a time limit. For a search, the planner may use only bitmap scans: its estimates for parts of texts are wrong by
 * orders of magnitude, so it would choose a scan of the table that should stop early, but reads the whole table. The statement gets more
 * than the usual 4 MB of memory: if the bitmap of all matches did not fit, PostgreSQL would check every row of a page again.
 * @returns undefined when the time is over
 */
async function withStatementTimeout<T>(
  database: Database,
  method: FindRequest['by'],
  milliseconds: number,
  work: (tx: Queryable) => Promise<T>,
): Promise<T | undefined> {
  const scanSetting = usesSearchIndex(method) ? 'off' : 'on';
  const settings = compose<object>(
    sql`select set_config('statement_timeout', ${bound(String(milliseconds))}, true), set_config('jit', 'off', true),
          set_config('work_mem', '32MB', true), set_config('enable_seqscan', ${bound(scanSetting)}, true),
          set_config('enable_indexscan', ${bound(scanSetting)}, true)`,
  );
  try {
    return await database.transaction(async (tx) => {
      await tx.query(settings);
      return work(tx);
    });
  } catch (error) {
    if (isTimeout(error)) return undefined;
    throw error;
  }
}

/** query_canceled. */
const queryCanceled = '57014';

function isTimeout(error: unknown): boolean {
  const cause = error instanceof Problem ? error.options.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === queryCanceled;
}

async function isSearchIndexed(handle: Queryable): Promise<boolean> {
  const [index] = await handle.query(
    compose<{ valid: boolean }>(
      sql`select indisvalid as valid from pg_index where indexrelid = to_regclass(${bound(searchIndex)})`,
    ),
  );
  return index?.valid === true;
}

/** @param rows of the page in the order of reading, and one more if there is a next page */
function pageOf(
  { limit, sort, anchor }: FindRequest,
  rows: readonly FoundRow[],
): Pick<Page<FoundRow>, 'items' | 'hasMore' | 'ends'> {
  const isBackwards = anchor?.side === 'before';
  const items = rows.slice(0, limit);
  if (isBackwards) items.reverse();
  const [first, last] = [items[0], items.at(-1)];
  const hasMore = isBackwards ? items.length > 0 : rows.length > limit;
  if (first === undefined || last === undefined) return { items, hasMore };
  const { keyOf } = rowOrder(sort, false);
  return { items, hasMore, ends: { first: keyOf(first), last: keyOf(last) } };
}

/** The page of a search that ran out of time. Its cursor continues where the search has stopped. */
function partialPage(
  request: FindRequest,
  { rows, reached }: Reading,
  skipped: number,
  partial: PartialReason,
): Page<FoundRow> {
  const { anchor } = request;
  const isBackwards = anchor?.side === 'before';
  const page = pageOf(request, rows.slice(skipped));
  const end = reached() ?? [];
  const first = page.ends?.first ?? anchor?.key ?? end;
  const last = page.ends?.last ?? anchor?.key ?? end;
  return {
    ...page,
    hasMore: true,
    ends: isBackwards ? { first: end, last } : { first, last: end },
    total: Math.min(rows.length, countCap),
    totalIsExact: false,
    partial,
  };
}
