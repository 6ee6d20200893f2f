import type { FastifyReply } from 'fastify';
import type { Page } from '../authentication/listing.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { linkHeader } from './links.js';
import { type ListQuery, type ListQuerySpec, parseListQuery, type QueryParameters } from './list-query.js';

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
  reply.header('X-Total-Count', String(page.total));
  if (!page.totalIsExact) reply.header('X-Total-Count-Capped', 'true');
  reply.header('Link', linksOf(path, query, page));
  return reply.send(page.items);
}

function linksOf(path: string, query: ListQuery, { hasMore, total, totalIsExact }: Page<unknown>): string {
  const last = totalIsExact ? Math.max(1, Math.ceil(total / query.limit)) : undefined;
  const to = (page: number) => ({ page: String(page) });
  return linkHeader({
    path,
    query: query.given,
    relations: {
      first: to(1),
      // From beyond the end back to where there is something.
      prev: query.page > 1 ? to(Math.min(query.page - 1, last ?? query.page)) : undefined,
      next: hasMore ? to(query.page + 1) : undefined,
      last: last === undefined ? undefined : to(last),
    },
  });
}
