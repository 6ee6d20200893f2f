import { linkHeader } from './links.js';

/** What a list's headers say of a page. */
export interface PageDescription {
  /** Where the list was asked for. */
  readonly path: string;
  /** The list's parameters as the client wrote them. */
  readonly given: Readonly<Record<string, string>>;
  /** The page's number. */
  readonly page: number;
  readonly limit: number;
  readonly hasNext: boolean;
  readonly total: number;
  readonly totalIsExact: boolean;
}

/** The number of the last page; undefined when not all were counted. */
function lastPage({ total, totalIsExact, limit }: PageDescription): number | undefined {
  return totalIsExact ? Math.max(1, Math.ceil(total / limit)) : undefined;
}

/**
 * `Link` and the headers of the counts.
 * @param parametersOf what a link to a page needs beside the client's own parameters
 */
export function describePage(
  description: PageDescription,
  parametersOf: (
    page: number,
    relation: 'first' | 'prev' | 'next' | 'last',
  ) => Readonly<Record<string, string>> = () => ({}),
): Readonly<Record<string, string>> {
  const { path, given, page, hasNext, total, totalIsExact } = description;
  const last = lastPage(description);
  const to = (target: number, relation: 'first' | 'prev' | 'next' | 'last') => ({
    page: String(target),
    ...parametersOf(target, relation),
  });
  const link = linkHeader({
    path,
    query: given,
    relations: {
      first: to(1, 'first'),
      // From beyond the end back to where there is something.
      prev: page > 1 ? to(Math.min(page - 1, last ?? page), 'prev') : undefined,
      next: hasNext ? to(page + 1, 'next') : undefined,
      last: last === undefined ? undefined : to(last, 'last'),
    },
  });
  return { 'X-Total-Count': String(total), ...(!totalIsExact && { 'X-Total-Count-Capped': 'true' }), Link: link };
}
