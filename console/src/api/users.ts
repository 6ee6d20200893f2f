import { keepPreviousData, queryOptions, useQueries } from '@tanstack/react-query';
import { request, send } from './client.js';
import type {
  ChangeUserData,
  GetUserData,
  GetUserPageData,
  GetUserPageResponse,
  UnlockUserData,
  User,
  UserChange,
} from './schema.js';

/** The id of events that concern no user. */
export const noUser = '00000000-0000-0000-0000-000000000000';

const named = (ids: readonly string[]) =>
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

const wantedOf = (ids: readonly string[]) =>
  [...new Set(ids)]
    .filter((id) => id !== noUser)
    .sort()
    .slice(0, 100);

/** The users with these ids, for lists that have ids only. At most 100; the others are missing, and so are erased users. */
export function useUsersById(ids: readonly string[]): ReadonlyMap<string, User> {
  return useUsersOf([ids]);
}

/** The same for the pages of a long list: the ids of each page are looked up once. */
export function useUsersOf(pages: readonly (readonly string[])[]): ReadonlyMap<string, User> {
  const answers = useQueries({ queries: pages.map((ids) => named(wantedOf(ids))) });
  return new Map(answers.flatMap(({ data }) => data?.data ?? []).map((user) => [user.id, user]));
}

/** Everything about one user begins with this key, so that an act can read it all again. */
export const keyOfUser = (id: string) => ['user', id] as const;

export const userQuery = (id: string) =>
  queryOptions({
    queryKey: [...keyOfUser(id), 'user'],
    queryFn: ({ signal }) => request<GetUserData, User>('GET', '/admin/v1/users/{id}', { path: { id }, signal }),
    refetchInterval: 30_000,
  });

export const changeUser = (id: string, body: UserChange) =>
  request<ChangeUserData, User>('PATCH', '/admin/v1/users/{id}', { path: { id }, body });

export const unlockUser = (id: string) =>
  request<UnlockUserData, User>('POST', '/admin/v1/users/{id}/unlock', { path: { id } });

/** The file with all that is stored about a user. */
export async function exportOf(id: string): Promise<string> {
  return (await send('GET', '/admin/v1/users/{id}/export', { path: { id } })).text();
}

/** Whether the user is locked, by an operator or by wrong secrets. */
export const isLocked = ({ lock, guess_locks }: User): boolean => lock !== null || guess_locks.length > 0;
