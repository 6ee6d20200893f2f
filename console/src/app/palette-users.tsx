import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { request } from '../api/client.js';
import type { FindUsersData, FindUsersResponse, User } from '../api/schema.js';
import type { IconName } from '../components/icon/icon.js';
import { nameOf, UserText } from '../components/text/values.js';
import { useDebounced } from '../lib/debounced.js';
import { useText } from '../text/text.js';
import { useHasScope } from './operator.js';

/** A line of the palette. */
export interface PaletteEntry {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly icon: IconName;
  readonly end?: ReactNode;
  readonly run: () => void;
  /** The Tab key shows the actions on this user. */
  readonly user?: User;
}

/** The search starts this many milliseconds after the last key press. */
const searchDelayMs = 150;
/** The API does not search for shorter texts. */
const minSearchLength = 2;

/** The first users that match the text, and a link to the whole list. */
export function useUserEntries(query: string): PaletteEntry[] {
  const { shell } = useText();
  const navigate = useNavigate();
  const can = useHasScope()('users:read');
  const search = useDebounced(query.trim(), searchDelayMs);
  const isSearch = can && search.length >= minSearchLength;
  const { data } = useQuery({
    queryKey: ['users', 'palette', search],
    queryFn: ({ signal }) => {
      const call = { body: { search, limit: 6 }, signal };
      return request<FindUsersData, FindUsersResponse>('POST', '/admin/v1/users/find', call);
    },
    enabled: isSearch,
    placeholderData: keepPreviousData,
  });
  if (!isSearch) return [];
  const group = shell.palette.users;
  const userEntries = (data?.data ?? []).map((user) => ({
    ...{
      id: user.id,
      group,
      name: nameOf(user),
      icon: iconOf(user),
      end: <UserText quiet text={identityOf(user)} />,
      user,
    },
    run: () => void navigate({ to: '/users/$id', params: { id: user.id } }),
  }));
  const allUsersEntry = {
    ...{ id: 'all-users', group, name: shell.palette.allUsers(search), icon: 'users' as const },
    run: () => void navigate({ to: '/users', search: { q: search } }),
  };
  return [...userEntries, allUsersEntry];
}

const iconOf = ({ lock, status }: User): IconName =>
  status === 'deactivated' ? 'ban' : lock === null ? 'user' : 'lock';

/** An address or username beside the name. */
const identityOf = (user: User): string =>
  [user.email, user.username, user.phone].find((value) => value !== null && value !== nameOf(user)) ?? '';
