import { keepPreviousData, queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { useDebounced } from '../lib/debounced.js';
import { request, send } from './client.js';
import type {
  ChangeUserData,
  FindUsersData,
  FindUsersResponse,
  GetUserData,
  GetUserPageData,
  GetUserPageResponse,
  UnlockUserData,
  User,
  UserChange,
} from './schema.js';

/** The id of events that concern no user. */
export const noUserId = '00000000-0000-0000-0000-000000000000';

const namesQuery = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ['users', 'named', ...ids],
    queryFn: ({ signal }) =>
      request<GetUserPageData, GetUserPageResponse>('GET', '/admin/v1/users/page', {
        query: { filter: `id:in:${ids.join(';')}`, limit: 100 },
        signal,
      }),
    enabled: ids.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });

const uniqueIds = (ids: readonly string[]) =>
  [...new Set(ids)]
    .filter((id) => id !== noUserId)
    .sort()
    .slice(0, 100);

/**
 * The users with these ids, for lists that have only ids. It reads at most 100 users. The others and erased users are
 * missing.
 */
export function useUsersById(ids: readonly string[]): ReadonlyMap<string, User> {
  return useUsersOfPages([ids]);
}

/** Like `useUsersById`, for the pages of a long list: the ids of each page are looked up once. */
export function useUsersOfPages(pages: readonly (readonly string[])[]): ReadonlyMap<string, User> {
  const answers = useQueries({ queries: pages.map((ids) => namesQuery(uniqueIds(ids))) });
  return new Map(answers.flatMap(({ data }) => data?.data ?? []).map((user) => [user.id, user]));
}

/**
 * The first users who match a text. It waits until nobody has typed for 150 ms.
 * @returns `search` is the text that was searched for, `found` is undefined until there is an answer
 */
export function useUserSearch(text: string, isAllowed = true) {
  const search = useDebounced(text.trim(), 150);
  // The API does not search for shorter texts.
  const isSearch = isAllowed && search.length >= 2;
  const { data } = useQuery({
    queryKey: ['users', 'palette', search],
    queryFn: ({ signal }) => {
      const call = { body: { search, limit: 6 }, signal };
      return request<FindUsersData, FindUsersResponse>('POST', '/admin/v1/users/find', call);
    },
    enabled: isSearch,
    placeholderData: keepPreviousData,
  });
  return { search, isSearch, found: isSearch ? data?.data : undefined };
}

/** All queries about one user begin with this key, so that a change can refresh all of them. */
export const userKey = (id: string) => ['user', id] as const;

export const userQuery = (id: string) =>
  queryOptions({
    queryKey: [...userKey(id), 'user'],
    queryFn: ({ signal }) => request<GetUserData, User>('GET', '/admin/v1/users/{id}', { path: { id }, signal }),
    refetchInterval: 30_000,
  });

export const changeUser = (id: string, body: UserChange) =>
  request<ChangeUserData, User>('PATCH', '/admin/v1/users/{id}', { path: { id }, body });

export const unlockUser = (id: string) =>
  request<UnlockUserData, User>('POST', '/admin/v1/users/{id}/unlock', { path: { id } });

/** The file with all that is stored about a user. */
export async function readUserExport(id: string): Promise<string> {
  return (await send('GET', '/admin/v1/users/{id}/export', { path: { id } })).text();
}

/** Whether the user is locked, by an operator or by wrong secrets. */
export const isLocked = ({ lock, guess_locks }: User): boolean => lock !== null || guess_locks.length > 0;
