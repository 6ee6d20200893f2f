/** The texts of `<postern-inbox>`. */
export const english = {
  inbox: 'Notifications',
  unread: '{count} unread',
  unread_more: 'more than {count} unread',
  new: 'New',
  mark_all_read: 'Mark all as read',
  empty: 'No notifications yet',
  empty_hint: 'What happens in your account appears here.',
  load_more: 'Show more',
  loading: 'Loading…',
  connection_lost: 'No connection. New notifications appear when it is back.',
  signed_out: 'Sign in to see your notifications.',
  not_loaded: 'The notifications could not be loaded.',
  try_again: 'Try again',
  push_settings: 'Push settings',
  push_hint: 'What you switch off is still listed here, but your devices do not ring.',
  push_none: 'There is nothing to switch off yet. Each kind of notification appears here after you get the first one.',
  push_other: 'Also switched off',
  push_on_again: 'Switch on',
  push_failed: 'The change was not saved. Check your connection and try again.',
  back: 'Back',
};

/** The keys of the texts of the inbox. A kind of notification is named by `type_` and its type, such as `type_payment`. */
export type InboxTexts = { readonly [K in keyof typeof english]: string } & {
  readonly [key: `type_${string}`]: string;
};
