import type { ListRequest, Page } from '../../database/listing.js';

/** Reads all pages of a list, the oldest entries first. */
export async function readAll<Item>(list: (request: ListRequest) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = [];
  for (let page = 1, hasMore = true; hasMore; page += 1) {
    const sort = [{ field: 'created_at', direction: 'asc' }] as const;
    const result = await list({ page, limit: 100, sort, filter: [] });
    all.push(...result.items);
    hasMore = result.hasMore;
  }
  return all;
}
