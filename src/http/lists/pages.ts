import { linkHeader, type Relation } from './links.js';

export type { Relation } from './links.js';

/** The data of a page for its headers. */
export interface PageDescription {
  /** The path of the list. */
  readonly path: string;
  /** The list's parameters as the client sent them. */
  readonly sentParameters: Readonly<Record<string, string>>;
  /** The page's number. */
  readonly page: number;
  readonly limit: number;
  readonly hasNext: boolean;
  readonly total: number;
  readonly totalIsExact: boolean;
}

/** The number of the last page; undefined if not all items were counted. */
function lastPage({ total, totalIsExact, limit }: PageDescription): number | undefined {
  return totalIsExact ? Math.max(1, Math.ceil(total / limit)) : undefined;
}

/**
 * The `Link` header and the headers with counts.
 * @param parametersOf the parameters that select the page of a link
 */
export function describePage(
  description: PageDescription,
  parametersOf: (page: number, relation: Relation) => Readonly<Record<string, string>> = () => ({}),
): Readonly<Record<string, string>> {
  const { path, sentParameters: parameters, page, hasNext, total, totalIsExact } = description;
  const last = lastPage(description);
  const to = (target: number, relation: Relation) => ({
    page: String(target),
    ...parametersOf(target, relation),
  });
  const link = linkHeader({
    path,
    query: parameters,
    relations: {
      first: to(1, 'first'),
      // From a page after the last one, `prev` leads to the last page.
      prev: page > 1 ? to(Math.min(page - 1, last ?? page), 'prev') : undefined,
      next: hasNext ? to(page + 1, 'next') : undefined,
      last: last === undefined ? undefined : to(last, 'last'),
    },
  });
  return { 'X-Total-Count': String(total), ...(!totalIsExact && { 'X-Total-Count-Capped': 'true' }), Link: link };
}
