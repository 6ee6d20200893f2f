import { request, send } from '../../api/client.js';
import { readLines } from '../../api/ndjson.js';
import { ProblemError } from '../../api/problem.js';
import type { BulkAction, BulkRequest, BulkResult, FindUsersData, FindUsersResponse } from '../../api/schema.js';

/** The users of a bulk action: those with these ids, or all users of a list. */
export type Chosen = { readonly ids: readonly string[] } | { readonly search?: string; readonly filter?: string };

export interface Tally {
  readonly done: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly lines: readonly BulkResult[];
  /** The ids of users whose result is lost: the action may have reached them. */
  readonly unknown: readonly string[];
}

/** The number of users of one request. A stop takes effect between two requests, so that the result of each user is known. */
const chunkSize = 100;

async function* chunksOf(chosen: Chosen): AsyncGenerator<readonly string[]> {
  if ('ids' in chosen) {
    for (let offset = 0; offset < chosen.ids.length; offset += chunkSize)
      yield chosen.ids.slice(offset, offset + chunkSize);
    return;
  }
  // The users who match at this moment. Users who are created later are left out.
  const createdBefore = new Date().toISOString();
  const filter = [chosen.filter, `created_at:lte:${createdBefore}`].filter((clause) => clause !== undefined).join(',');
  const query = {
    search: chosen.search,
    filter,
    sort: 'created_at:asc',
    limit: chunkSize,
  };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: FindUsersResponse = await request<FindUsersData, FindUsersResponse>('POST', '/admin/v1/users/find', {
      body: { ...query, cursor },
    });
    if (page.data.length > 0) yield page.data.map(({ id }) => id);
    cursor = page.page.next_cursor;
  }
}

/**
 * Runs an action on the users, chunk by chunk.
 * @param onProgress called after each chunk, also after one that failed; returns whether to go on
 * @returns the code of the error with which the service ended the action early
 * @throws what a request throws
 */
export async function runBulk(
  action: BulkAction,
  chosen: Chosen,
  lock: BulkRequest['lock'],
  onProgress: (tally: Tally) => boolean,
): Promise<string | undefined> {
  const lines: BulkResult[] = [];
  const counts = { done: 0, unchanged: 0, failed: 0 };
  for await (const ids of chunksOf(chosen)) {
    const body = { action, ids, lock };
    const unansweredIds = new Set(ids);
    let ending: BulkResult = {};
    try {
      const response = await send('POST', '/admin/v1/users/bulk', { body });
      for await (const line of readLines<BulkResult>(response)) {
        const { id, result } = line;
        if (result === undefined) {
          ending = line;
          continue;
        }
        lines.push(line);
        if (id !== undefined) unansweredIds.delete(id);
        if (result !== 'valid') counts[result] += 1;
      }
    } catch (error) {
      // A refused request has changed nothing. If the answer was lost, the service may have gone on.
      const isRefused = error instanceof ProblemError && error.status < 500;
      onProgress({ ...counts, lines, unknown: isRefused ? [] : [...unansweredIds] });
      throw error;
    }
    // The database may have done a write that it did not confirm.
    const isUnknown = ending.code === 'storage_unavailable';
    const continues = onProgress({ ...counts, lines, unknown: isUnknown ? [...unansweredIds] : [] });
    if (ending.summary?.complete !== true) return ending.code ?? 'internal_error';
    if (!continues) return undefined;
  }
  return undefined;
}
