import type { LinkProps } from '@tanstack/react-router';
import type { IconName } from '../components/icon/icon.js';
import type { Texts } from '../text/en/index.js';

/** A page in the navigation, in the palette, and after `g` on the keyboard. */
export interface NavigationEntry {
  readonly to: NonNullable<LinkProps['to']>;
  readonly name: (text: Texts) => string;
  /** A shorter name for the bar of a phone. */
  readonly phoneName?: (text: Texts) => string;
  readonly icon: IconName;
  /** The letter after `g`. */
  readonly key: string;
  /** Whether it is below the line, with the pages that are needed less often. */
  readonly second?: boolean;
  /** The scope that the page needs. */
  readonly needs?: string;
  /** In the bar at the bottom of a phone. At most four; the others are behind "More". */
  readonly onPhone?: boolean;
}

/** In the order of the sidebar. */
export const navigation: readonly NavigationEntry[] = [
  { to: '/', name: (text) => text.shell.overview, icon: 'home', key: 'o', onPhone: true },
  { to: '/users', name: (text) => text.users.title, icon: 'users', key: 'u', needs: 'users:read', onPhone: true },
  {
    ...{ to: '/notifications', name: (text) => text.notifications.title, icon: 'bell', key: 'n' },
    ...{ needs: 'notifications:write', onPhone: true, phoneName: (text) => text.notifications.notify },
  },
  { to: '/messages', name: (text) => text.messages.title, icon: 'mail', key: 'm', needs: 'users:read', onPhone: true },
  { to: '/webhooks', name: (text) => text.webhooks.title, icon: 'webhook', key: 'w', needs: 'webhooks:write' },
  { to: '/audit', name: (text) => text.audit.title, icon: 'list', key: 'a', needs: 'admin', second: true },
  { to: '/access', name: (text) => text.access.title, icon: 'shield', key: 'c', second: true, needs: 'admin' },
  { to: '/keys', name: (text) => text.keys.title, icon: 'key', key: 'k', second: true, needs: 'admin' },
  { to: '/backups', name: (text) => text.backups.title, icon: 'download', key: 'b', second: true, needs: 'admin' },
  { to: '/system', name: (text) => text.system.title, icon: 'sliders', key: 's', needs: 'admin', second: true },
];
