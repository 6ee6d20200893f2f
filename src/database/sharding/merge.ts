import { Problem } from '../../lib/problem.js';
import { type Database, isStorageFailure, type Shard } from '../database.js';
import { countCap, type ListRequest, type ListSource, type Page, type RowKey, readPage, rowOrder } from '../listing.js';

/**
 * How many rows may come before a page that is requested by its number. Later pages of a list over several servers need a
 * cursor.
 */
const maxSkippedRows = 10_000;

type Request = Omit<ListRequest, 'filter'>;

/**
 * Reads one page of a list of all users. With several servers, each reads its part of the page, and the parts are merged. A
 * page without the rows of a server that does not answer is partial.
 * @param read reads a page of one server
 * @throws Problem `storage_unavailable` if no server answers; `validation_failed` for a page that is too far from the start
 */
export async function readMergedPage<Item extends { readonly id: string }, PageRequest extends Request>(
  { shards, mapVersion }: Pick<Database, 'shards' | 'mapVersion'>,
  request: PageRequest,
  read: (shard: Shard, request: PageRequest) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const [only, ...others] = shards;
  if (only !== undefined && others.length === 0) return read(only, request);
  const skipped = request.anchor === undefined ? (request.page - 1) * request.limit : 0;
  if (skipped > maxSkippedRows) {
    const params = { max: Math.floor(maxSkippedRows / request.limit) + 1 };
    throw new Problem('validation_failed', { errors: [{ field: 'page', code: 'invalid_page', params }] });
  }
  const part = { ...request, page: 1, limit: skipped + request.limit };
  const readings = await readAgainIfMoved({ mapVersion }, () => answersOf(shards, (shard) => read(shard, part)));
  const pages = readings.map(({ values }) => values).filter(({ length }) => length > 0);
  if (pages.length === 0) throw readings[0]?.failure;
  const missing = new Set(readings.flatMap((reading) => reading.missing));
  return withoutShards(mergePages(request, pages, skipped), [...missing]);
}

/**
 * Reads several servers so that nobody is missed. A user may move from a server that was not read yet to one that was read
 * before. The former server deletes the rows of the user only when this process has the new map. So only if the version of
 * the map has changed, the servers are read a second time.
 * @returns the result of one reading, in which nobody is missing. If users moved during the second reading too, the results
 *   of both, the last one first: each user is in one of them, unless the bucket of the user moved twice
 */
export async function readAgainIfMoved<T>(
  { mapVersion }: Pick<Database, 'mapVersion'>,
  read: () => Promise<T>,
): Promise<readonly [T, ...T[]]> {
  const version = mapVersion();
  const result = await read();
  const laterVersion = mapVersion();
  if (laterVersion === version) return [result];
  const laterResult = await read();
  return mapVersion() === laterVersion ? [laterResult] : [laterResult, result];
}

/** Marks a page that lacks the rows of some servers. @param missing the names of these servers */
export function withoutShards<Item>(page: Page<Item>, missing: readonly string[]): Page<Item> {
  if (missing.length === 0) return page;
  return { ...page, totalIsExact: false, partial: page.partial ?? 'shard', missingShards: missing };
}

/** What the servers that answered have read, the names of the others, and the first error of these others. */
interface Answers<T> {
  readonly values: T[];
  readonly missing: readonly string[];
  readonly failure: unknown;
}

/** Runs a read on servers. @throws the error of a read that failed although its server answered */
export async function answersOf<T>(shards: readonly Shard[], read: (shard: Shard) => Promise<T>): Promise<Answers<T>> {
  const values: T[] = [];
  const missing: string[] = [];
  let failure: unknown;
  for (const [place, answer] of (await Promise.allSettled(shards.map(read))).entries()) {
    if (answer.status === 'fulfilled') values.push(answer.value);
    else if (!isStorageFailure(answer.reason)) throw answer.reason;
    else {
      missing.push(shards[place]?.name ?? '');
      failure ??= answer.reason;
    }
  }
  return { values, missing, failure };
}

/**
 * Reads one page of a table with rows of all users, as `readPage` does. If the filter names one user, reads only the server
 * of this user, so another server that hangs does not delay the page.
 */
export async function readPageOfAll<Row extends { readonly id: string }>(
  database: Pick<Database, 'shards' | 'shardOf' | 'mapVersion'>,
  source: ListSource<'everyone'>,
  request: ListRequest,
): Promise<Page<Row>> {
  const read = (shard: Shard, part: ListRequest) => readPage<Row, 'everyone'>(shard.everyone, source, part);
  const userId = userOf(request);
  if (userId === undefined) return readMergedPage(database, request, read);
  const readFromUser = () => {
    const shard = database.shardOf(userId);
    return read(shard, request).catch((error: unknown) => {
      if (database.shards.length === 1 || !isStorageFailure(error)) throw error;
      return withoutShards<Row>({ items: [], total: 0, totalIsExact: false, hasMore: false }, [shard.name]);
    });
  };
  const [last] = await readAgainIfMoved(database, readFromUser);
  return last;
}

/** The user of all rows that a filter selects; undefined if they may have several. */
function userOf({ filter }: ListRequest): string | undefined {
  const clause = filter.find(
    ({ name, operator, values }) => name === 'user_id' && operator === 'eq' && values.length === 1,
  );
  return clause?.values[0];
}

/** @param readings the pages of the servers, each from the start of the list or from the anchor. The last reading is first */
function mergePages<Item extends { readonly id: string }>(
  { sort, limit, anchor }: Request,
  readings: readonly (readonly Page<Item>[])[],
  skipped: number,
): Page<Item> {
  const pages = readings.flat();
  const { keyOf } = rowOrder(sort, false);
  const directions = [...sort, sort.at(-1)].map((column) => (column?.direction === 'asc' ? 1 : -1));
  const compare = (one: RowKey, other: RowKey) => {
    const place = one.findIndex((value, index) => value !== other[index]);
    return place < 0 ? 0 : (directions[place] ?? 1) * ((one[place] ?? '') < (other[place] ?? '') ? -1 : 1);
  };
  // The order in which the rows are read: a page before an anchor is read backwards, from its end.
  const isBackwards = anchor?.side === 'before';
  const sign = isBackwards ? -1 : 1;
  const compareRead = (one: RowKey, other: RowKey) => sign * compare(one, other);

  // A search that ran out of time has read no rows behind the end of its page, so the merged page cannot contain later rows.
  const stopped = pages.filter(({ partial }) => partial !== undefined);
  const reached = stopped
    .map(({ ends }) => (isBackwards ? ends?.first : ends?.last))
    .filter((key) => key !== undefined)
    .sort(compareRead)[0];
  // While a user is moved, two servers have the row. The first one is that of the last reading.
  const found = new Map<string, { readonly item: Item; readonly key: RowKey }>();
  for (const item of pages.flatMap(({ items }) => items)) {
    if (!found.has(item.id)) found.set(item.id, { item, key: keyOf(item) });
  }
  const rows = [...found.values()]
    .filter(({ key }) => reached === undefined || compareRead(key, reached) <= 0)
    .sort((one, other) => compareRead(one.key, other.key));
  const shown = rows.slice(skipped, skipped + limit);
  const isCut = stopped.length > 0 && rows.length < skipped + limit;
  const hasMoreRows = rows.length > skipped + limit || pages.some(({ hasMore }) => hasMore);
  if (isBackwards) shown.reverse();

  const end = isCut ? reached : undefined;
  const first = (isBackwards ? end : undefined) ?? shown[0]?.key ?? anchor?.key ?? end;
  const last = (isBackwards ? undefined : end) ?? shown.at(-1)?.key ?? anchor?.key ?? end;
  const hasEnds = shown.length > 0 || end !== undefined;
  // A reading that missed somebody counted too few.
  const sum = Math.max(...readings.map((reading) => reading.reduce((total, page) => total + page.total, 0)));
  const isCounted = sum <= countCap && pages.every(({ totalIsExact }) => totalIsExact);
  // On the last page, the number of all rows is known.
  const isEnd = anchor === undefined && shown.length > 0 && stopped.length === 0 && !hasMoreRows;
  return {
    items: shown.map(({ item }) => item),
    hasMore: isCut || (isBackwards ? shown.length > 0 : hasMoreRows),
    total: isEnd ? skipped + shown.length : Math.min(sum, countCap),
    totalIsExact: isEnd || isCounted,
    ...(hasEnds && first !== undefined && last !== undefined && { ends: { first, last } }),
    ...(isCut && { partial: stopped[0]?.partial ?? 'time' }),
  };
}

/**
 * Runs a read on each server. One that does not answer is left out, unless none answers.
 * @throws Problem `storage_unavailable` if no server answers
 */
export async function onReachableShards<T>(
  database: Pick<Database, 'shards'>,
  read: (shard: Shard) => Promise<T>,
): Promise<T[]> {
  return (await onShards(database, read)).values;
}

/** As `onReachableShards`, but also returns the names of the servers that do not answer. */
export function onShards<T>(
  { shards }: Pick<Database, 'shards'>,
  read: (shard: Shard) => Promise<T>,
): Promise<{ readonly values: T[]; readonly missing: readonly string[] }> {
  return readParts(new Map(shards.map((shard) => [shard, undefined])), read);
}

/** As `onReachableShards`, but only on the servers in `parts`, which may be empty. Each gets its part of the work. */
export async function onReachable<T, Part>(
  parts: ReadonlyMap<Shard, Part>,
  read: (shard: Shard, part: Part) => Promise<T>,
): Promise<T[]> {
  return (await readParts(parts, read)).values;
}

async function readParts<T, Part>(
  parts: ReadonlyMap<Shard, Part>,
  read: (shard: Shard, part: Part) => Promise<T>,
): Promise<{ readonly values: T[]; readonly missing: readonly string[] }> {
  const { values, missing, failure } = await answersOf([...parts.keys()], (shard) =>
    read(shard, parts.get(shard) as Part),
  );
  if (values.length === 0 && failure !== undefined) throw failure;
  return { values, missing };
}
