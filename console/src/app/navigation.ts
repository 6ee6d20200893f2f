import type { LinkProps } from '@tanstack/react-router';
import type { IconName } from '../components/icon/icon.js';
import type { Texts } from '../text/texts.js';

/** A page in the navigation and in the palette. Its keyboard shortcut is `g` and then `key`. */
export interface NavigationEntry {
  readonly to: NonNullable<LinkProps['to']>;
  readonly name: (text: Texts) => string;
  /** A shorter name for the bar of a phone. */
  readonly phoneName?: (text: Texts) => string;
  readonly icon: IconName;
  /** A letter. */
  readonly key: string;
  /** Whether it is below the line, with the pages that are used less often. */
  readonly isSecondary?: boolean;
  /** The scope that the page needs. */
  readonly scope?: string;
  /** In the bar at the bottom of a phone. At most four; the others are behind "More". */
  readonly isOnPhoneBar?: boolean;
}

/** In the order of the sidebar. */
export const navigation: readonly NavigationEntry[] = [
  { to: '/', name: (text) => text.shell.overview, icon: 'home', key: 'o', isOnPhoneBar: true },
  { to: '/users', name: (text) => text.users.title, icon: 'users', key: 'u', scope: 'users:read', isOnPhoneBar: true },
  {
    to: '/notifications',
    name: (text) => text.notifications.title,
    icon: 'bell',
    key: 'n',
    scope: 'notifications:write',
    isOnPhoneBar: true,
    phoneName: (text) => text.notifications.notify,
  },
  {
    to: '/messages',
    name: (text) => text.messages.title,
    icon: 'mail',
    key: 'm',
    scope: 'users:read',
    isOnPhoneBar: true,
  },
  {
    to: '/publications',
    name: (text) => text.publications.title,
    icon: 'send',
    key: 'd',
    scope: 'notifications:write',
  },
  {
    to: '/topics',
    name: (text) => text.topics.title,
    icon: 'hash',
    key: 'f',
    scope: 'notifications:configure',
  },
  {
    to: '/categories',
    name: (text) => text.categories.title,
    icon: 'tag',
    key: 't',
    scope: 'notifications:configure',
  },
  {
    to: '/suppressions',
    name: (text) => text.suppressions.navigation,
    icon: 'mailOff',
    key: 'x',
    scope: 'users:read',
  },
  { to: '/webhooks', name: (text) => text.webhooks.title, icon: 'webhook', key: 'w', scope: 'webhooks:write' },
  { to: '/audit', name: (text) => text.audit.title, icon: 'list', key: 'a', scope: 'admin', isSecondary: true },
  { to: '/access', name: (text) => text.access.title, icon: 'shield', key: 'c', isSecondary: true, scope: 'admin' },
  {
    to: '/providers',
    name: (text) => text.providers.title,
    icon: 'globe',
    key: 'p',
    isSecondary: true,
    scope: 'admin',
  },
  { to: '/keys', name: (text) => text.keys.title, icon: 'key', key: 'k', isSecondary: true, scope: 'admin' },
  {
    to: '/audiences',
    name: (text) => text.audiences.title,
    icon: 'send',
    key: 'd',
    isSecondary: true,
    scope: 'admin',
  },
  { to: '/backups', name: (text) => text.backups.title, icon: 'download', key: 'b', isSecondary: true, scope: 'admin' },
  { to: '/system', name: (text) => text.system.title, icon: 'sliders', key: 's', scope: 'admin', isSecondary: true },
];
