import type { Core } from './core.js';
import { checkLimit, type List, listFrom, type Page } from './pages.js';
import type { Abortable } from './platform.js';

export type { List, Page } from './pages.js';

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
 * @param extra parameters that only this list has
 * @throws UsageError for a limit that is not valid
 */
export function listOf<T>(
  core: Pick<Core, 'call'>,
  path: string,
  { signal, limit, sort, since, filter }: ListQuery,
  extra: Readonly<Record<string, string | undefined>> = {},
): List<T> {
  checkLimit(limit);
  const query = {
    ...extra,
    limit,
    filter,
    sort: sort === undefined ? undefined : [sort].flat().join(','),
    since: since instanceof Date ? since.toISOString() : since,
  };
  return listFrom(async (at: { readonly cursor?: string; readonly number?: number } = {}) => {
    const { cursor, number } = at;
    return core.call<Page<T>>({ path: `${path}/page`, query: { ...query, cursor, page: number }, signal });
  });
}
