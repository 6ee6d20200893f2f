import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { User } from '../api/schema.js';
import { useUserSearch } from '../api/users.js';
import type { IconName } from '../components/icon/icon.js';
import { addressOf, nameOf, UserText } from '../components/text/values.js';
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

/** The first users that match the text, and a link to the whole list. */
export function useUserEntries(query: string): PaletteEntry[] {
  const { shell } = useText();
  const navigate = useNavigate();
  const can = useHasScope()('users:read');
  const { search, isSearch, found = [] } = useUserSearch(query, can);
  if (!isSearch) return [];
  const group = shell.palette.users;
  const userEntries = found.map((user) => ({
    id: user.id,
    group,
    name: nameOf(user),
    icon: iconOf(user),
    end: <UserText quiet text={addressOf(user)} />,
    user,
    run: () => void navigate({ to: '/users/$id', params: { id: user.id } }),
  }));
  const allUsersEntry = {
    id: 'all-users',
    group,
    name: shell.palette.allUsers(search),
    icon: 'users' as const,
    run: () => void navigate({ to: '/users', search: { q: search } }),
  };
  return [...userEntries, allUsersEntry];
}

const iconOf = ({ lock, status }: User): IconName =>
  status === 'deactivated' ? 'ban' : lock === null ? 'user' : 'lock';
