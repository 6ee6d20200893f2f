import { request, send } from '../../api/client.js';
import { readLines } from '../../api/ndjson.js';
import type { BulkAction, BulkRequest, BulkResult, GetUserPageData, GetUserPageResponse } from '../../api/schema.js';

/** Which users: those with these ids, or all of a list. */
export type Chosen = { readonly ids: readonly string[] } | { readonly search?: string; readonly filter?: string };

export interface Tally {
  readonly done: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly lines: readonly BulkResult[];
}

/** Users of one request. A stop takes effect between two requests, so that the result of each user is known. */
const part = 100;

async function* partsOf(chosen: Chosen): AsyncGenerator<readonly string[]> {
  if ('ids' in chosen) {
    for (let at = 0; at < chosen.ids.length; at += part) yield chosen.ids.slice(at, at + part);
    return;
  }
  // The users who match now. Those who are created meanwhile are not meant.
  const now = new Date().toISOString();
  const filter = [chosen.filter, `created_at:lte:${now}`].filter((clause) => clause !== undefined).join(',');
  const query = {
    ...(chosen.search !== undefined && { search: chosen.search }),
    filter,
    sort: 'created_at:asc',
    limit: part,
  };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: GetUserPageResponse = await request<GetUserPageData, GetUserPageResponse>(
      'GET',
      '/admin/v1/users/page',
      {
        query: { ...query, ...(cursor !== undefined && { cursor }) },
      },
    );
    if (page.data.length > 0) yield page.data.map(({ id }) => id);
    cursor = page.page.next_cursor;
  }
}

/**
 * Does one thing to the users, part by part.
 * @param onProgress called after each part; returns whether to go on
 * @throws what a request throws; `onProgress` has what was done until then
 */
export async function runBulk(
  action: BulkAction,
  chosen: Chosen,
  lock: BulkRequest['lock'],
  onProgress: (tally: Tally) => boolean,
): Promise<void> {
  const lines: BulkResult[] = [];
  const counts = { done: 0, unchanged: 0, failed: 0 };
  for await (const ids of partsOf(chosen)) {
    const body = { action, ids, ...(lock !== undefined && { lock }) };
    const response = await send('POST', '/admin/v1/users/bulk', { body });
    let ending: BulkResult = {};
    try {
      for await (const line of readLines<BulkResult>(response)) {
        const { result } = line;
        if (result === undefined) {
          ending = line;
          continue;
        }
        lines.push(line);
        if (result !== 'valid') counts[result] += 1;
      }
    } finally {
      ending.summary ??= { ...counts, valid: 0, complete: false };
    }
    if (!onProgress({ ...counts, lines }) || !ending.summary.complete) return;
  }
}
