import type { FastifyReply } from 'fastify';
import type { ListPage } from '../../contract/common.js';
import type { Page, RowAnchor } from '../../database/listing.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { throwIfErrors } from '../../lib/problem.js';
import { decodeListCursor, nextCursor, previousCursor } from './list-cursor.js';
import {
  type ListQuery,
  type ListQuerySpec,
  parseListQuery,
  type QueryParameters,
  type ReadSearch,
} from './list-query.js';
import { describePage, type Relation } from './pages.js';

/** The query of a list that is paged by number or by cursor. */
export interface KeysetQuery<Field extends string = string> extends ListQuery<Field> {
  /** The name of the list: a cursor of another list is refused. */
  readonly list: string;
  /** The row next to the page, if the request has a cursor. */
  readonly anchor?: RowAnchor;
}

/**
 * Parses the query of a list. Defaults: newest first, 20 items on a page, at most 100. With a cursor, the page number is
 * ignored.
 *
 * @throws Problem `validation_failed` with the invalid parameters
 */
export function readListQuery<Field extends string>(
  list: string,
  query: QueryParameters,
  sortable: readonly [Field, ...Field[]],
  filterFields: FilterFields,
  readSearch?: ReadSearch,
): KeysetQuery<Field> {
  const spec: ListQuerySpec<Field> = {
    sortable,
    filterFields,
    ...(readSearch !== undefined && { readSearch }),
  };
  const parsed = { ...parseListQuery(query, spec), list };
  const { cursor: text } = query;
  if (text === undefined) return parsed;
  const cursor = typeof text === 'string' ? decodeListCursor(text, parsed) : undefined;
  if (cursor === undefined) throwIfErrors([{ field: 'cursor', code: 'invalid_cursor' }]);
  return { ...parsed, ...cursor };
}

/** Sends a page as a bare array, with the links and counts in headers. `path` is the path of the list. */
export function sendPage<Item>(reply: FastifyReply, path: string, query: KeysetQuery, page: Page<Item>): FastifyReply {
  return setPageHeaders(reply, path, query, page).send(page.items);
}

/** Sends a page as an object with the items, the page number, the counts and the next cursor. */
export function sendEnvelope<Item>(
  reply: FastifyReply,
  path: string,
  query: KeysetQuery,
  page: Page<Item>,
): FastifyReply {
  return setPageHeaders(reply, path, query, page).send(envelopeOf(query, page));
}

/** A page as an object with the items, the page number, the counts and the next cursor. */
export function envelopeOf<Item>(query: KeysetQuery, page: Page<Item>): ListPage<Item> {
  return {
    data: page.items,
    page: {
      number: query.page,
      limit: query.limit,
      total: page.total,
      total_is_exact: page.totalIsExact,
      ...(page.partial !== undefined && { partial: page.partial }),
      next_cursor: nextCursor(query, query.page, page),
    },
  };
}

/**
 * The links of a request with a cursor, and of a partial page, have cursors to the neighbouring pages. All other links have
 * page numbers.
 */
function setPageHeaders<Item>(reply: FastifyReply, path: string, query: KeysetQuery, page: Page<Item>): FastifyReply {
  const cursors: { readonly [name in Relation]?: string | null | undefined } =
    query.anchor === undefined && page.partial === undefined
      ? {}
      : { prev: previousCursor(query, query.page, page), next: nextCursor(query, query.page, page) };
  const { total, totalIsExact, hasMore, partial } = page;
  const description = { path, ...query, total, totalIsExact, hasNext: hasMore };
  if (partial !== undefined) reply.header('X-Partial', partial);
  return reply.headers(
    describePage(description, (_page, relation) => {
      const cursor = cursors[relation] ?? undefined;
      return cursor === undefined ? {} : { cursor };
    }),
  );
}
