import { queryOptions, useQuery } from '@tanstack/react-query';
import { request } from '../api/client.js';
import { readConsoleEntry } from '../api/login.js';
import type { Account, GetAccountData, User } from '../api/schema.js';

/** Who is signed in. */
export type Operator = Account & { readonly capabilities: readonly string[] };

export const operatorQuery = queryOptions({
  queryKey: ['operator'],
  queryFn: ({ signal }) => request<GetAccountData, Operator>('GET', '/v1/account', { signal }),
  staleTime: 60_000,
});

/** What the console needs to know about the installation, and the device of this browser. */
export const entryQuery = queryOptions({
  queryKey: ['entry'],
  queryFn: readConsoleEntry,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Whether the role of the operator has a scope, such as `users:write`. The service enforces the same. */
export function useHasScope(): (scope: string) => boolean {
  const { data } = useQuery(operatorQuery);
  return (scope) => data?.capabilities.includes(scope) === true;
}

/** Whether the operator may change a user. Only the role operator changes users with a role. */
export function useMayChange(): (user: Pick<User, 'role'>) => boolean {
  const can = useHasScope();
  return ({ role }) => can('users:write') && (role === 'user' || can('admin'));
}
