import type { FastifyReply } from 'fastify';
import type { Page } from '../authentication/listing.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { type ListQuery, type ListQuerySpec, parseListQuery, type QueryParameters } from './list-query.js';
import { describePage } from './pages.js';

/** The lists of the administration: newest first, 20 at a time, at most 100. */
export function readListQuery<Field extends string>(
  query: QueryParameters,
  sortable: readonly [Field, ...Field[]],
  filterFields: FilterFields,
): ListQuery<Field> {
  const spec: ListQuerySpec<Field> = {
    sortable,
    defaultSort: [{ field: sortable[0], direction: 'desc' }],
    filterFields,
    maxLimit: 100,
    defaultLimit: 20,
  };
  return parseListQuery(query, spec);
}

/** Answers with a page: a bare array, everything about it in headers. `path` is where the list was asked for. */
export function sendPage<Item>(reply: FastifyReply, path: string, query: ListQuery, page: Page<Item>): FastifyReply {
  const { total, totalIsExact, hasMore } = page;
  reply.headers(describePage({ path, ...query, total, totalIsExact, hasNext: hasMore }));
  return reply.send(page.items);
}
