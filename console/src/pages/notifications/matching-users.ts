import { useQuery } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type { GetUserPageData, GetUserPageResponse } from '../../api/schema.js';
import type { MatchingUsers } from './stored-recipients.js';

/** The maximum number of users who are chosen by a list of users. */
export const maxMatching = 10_000;
const pageSize = 100;

interface Found {
  /** Empty if more users match than can be chosen. */
  readonly ids: readonly string[];
  readonly hasMore: boolean;
}

/** Reads the ids of all users who match now. Later users are not chosen. */
export function useMatchingUsers(matching: MatchingUsers | null) {
  return useQuery({
    queryKey: ['users', 'matching', matching],
    queryFn: ({ signal }) => readAll(matching ?? {}, signal),
    enabled: matching !== null,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
}

async function readAll(matching: MatchingUsers, signal: AbortSignal): Promise<Found> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const call = { query: { ...matching, sort: 'created_at:asc', limit: pageSize, cursor }, signal };
    const page = await request<GetUserPageData, GetUserPageResponse>('GET', '/admin/v1/users/page', call);
    ids.push(...page.data.map(({ id }) => id));
    if (ids.length > maxMatching) return { ids: [], hasMore: true };
    cursor = page.page.next_cursor;
  }
  return { ids, hasMore: false };
}
