/** The texts of `<postern-inbox>` that only the list and its views show. They load with the rows. */
export const english = {
  new: 'New',
  empty: 'No notifications yet',
  empty_hint: 'Notifications about your account appear here.',
  load_more: 'Show more',
  connection_lost: 'No connection. New notifications appear when it is back.',
  signed_out: 'Sign in to see your notifications.',
  push_settings: 'Push settings',
  push_failed: 'The change was not saved. Check your connection and try again.',
  back: 'Back',
};

export type ListTexts = { readonly [K in keyof typeof english]: string };
