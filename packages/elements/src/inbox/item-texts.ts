/** The texts of `<postern-inbox>` with `tabs`, `archive` or `snooze`. They load with these parts. */
export const english = {
  show: 'Show',
  tab_inbox: 'Inbox',
  tab_archived: 'Archived',
  tab_snoozed: 'Snoozed',
  mark_read: 'Mark as read',
  mark_unread: 'Mark as unread',
  archive: 'Archive',
  unarchive: 'Move to inbox',
  snooze: 'Snooze',
  end_snooze: 'End the snooze',
  later_today: 'Later today',
  tomorrow: 'Tomorrow',
  next_week: 'Next week',
  snoozed_until: 'Snoozed until {time}',
  archived_empty: 'Nothing is archived',
  snoozed_empty: 'Nothing is snoozed',
};

export type ItemTexts = { readonly [K in keyof typeof english]: string };
