import type { PushTexts } from './push-texts.js';

/** The texts of `<postern-inbox>`. */
export const english = {
  inbox: 'Notifications',
  unread: '{count} unread',
  unread_more: 'more than {count} unread',
  new: 'New',
  mark_all_read: 'Mark all as read',
  empty: 'No notifications yet',
  empty_hint: 'Notifications about your account appear here.',
  load_more: 'Show more',
  loading: 'Loading…',
  connection_lost: 'No connection. New notifications appear when it is back.',
  signed_out: 'Sign in to see your notifications.',
  not_loaded: 'The notifications could not be loaded.',
  try_again: 'Try again',
  push_settings: 'Push settings',
  push_failed: 'The change was not saved. Check your connection and try again.',
  back: 'Back',
};

/** The texts of the list. Those of the push settings load with the settings, unless the page has its own. */
export type ListTexts = { readonly [K in keyof typeof english]: string } & Partial<PushTexts> & {
    readonly [key: `type_${string}`]: string;
  };

/** The keys of the texts of the inbox. The name of a kind of notification has the key `type_` and its type, such as `type_payment`. */
export type InboxTexts = ListTexts & PushTexts;
