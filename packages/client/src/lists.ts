import type { Core } from './core.js';
import { UsageError } from './errors.js';
import type { Abortable, MaybePromise } from './platform.js';
import type { PageInfo } from './wire.js';

/** A page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly page: PageInfo;
}

/** A list. Nothing is read until you iterate: each iteration reads from the start, page by page, until you stop. */
export interface List<T> extends AsyncIterable<T> {
  /** The first page, or the one at a cursor or number. */
  readonly page: (at?: { readonly cursor: string } | { readonly number: number }) => Promise<Page<T>>;
  readonly pages: () => AsyncIterable<Page<T>>;
}

/**
 * A time of the service as a `Date`, such as to show it. A `Date` has milliseconds and the service microseconds, so sort and compare
 * the texts.
 *
 * @example
 * ```ts
 * import { type Notification, toDate } from '@postern/client';
 *
 * export const textOf = ({ created_at }: Notification) => toDate(created_at).toLocaleString();
 * ```
 */
export const toDate = (time: string): Date => new Date(time);

/** A field to sort by, with its direction. Without one, the newest or largest is first. */
export type Sorting<Field extends string> = Field | `${Field}:asc` | `${Field}:desc`;

/** The options of a list. `Field`: the fields that it can be sorted by. */
export interface ListQuery<Field extends string = string> extends Abortable {
  /** The maximum number of items of a page, 1 to 100. 20 by default. */
  readonly limit?: number | undefined;
  /** One sort field or several, such as `created_at:desc`. */
  readonly sort?: Sorting<Field> | readonly Sorting<Field>[] | undefined;
  /** Only items that are newer than this. */
  readonly since?: string | Date | undefined;
  /** Conditions in the grammar of the service, such as `notification_type:eq:payment`. */
  readonly filter?: string | undefined;
}

/**
 * A list of the service.
 *
 * @param readExtra parameters that only this list has, read for each page
 * @throws UsageError for a limit that is not valid
 */
export function listOf<T>(
  core: Pick<Core, 'call'>,
  path: string,
  { signal, limit, sort, since, filter }: ListQuery,
  readExtra: () => MaybePromise<Readonly<Record<string, string | undefined>>> = () => ({}),
): List<T> {
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= 100)) {
    throw new UsageError('`limit` must be an integer from 1 to 100.');
  }
  const query = {
    limit,
    filter,
    sort: sort === undefined ? undefined : [sort].flat().join(),
    since: since instanceof Date ? since.toISOString() : since,
  };
  async function page({ cursor, number }: { readonly cursor?: string; readonly number?: number } = {}) {
    const extra = await readExtra();
    const all = { ...query, ...extra, cursor, page: number };
    return core.call<Page<T>>({ path: `${path}/page`, query: all, signal, expects: 'data' });
  }
  async function* pages(): AsyncGenerator<Page<T>> {
    let cursor: string | null = null;
    do {
      const next: Page<T> = await page(cursor === null ? undefined : { cursor });
      yield next;
      cursor = next.page.next_cursor;
    } while (cursor !== null);
  }
  return {
    page,
    pages,
    // Hermes, the engine of React Native, has no `Symbol.asyncIterator`. There, compiled loops look for this name.
    async *[(Symbol.asyncIterator ?? '@@asyncIterator') as typeof Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}
