import type { Marker, Notification } from './notification.js';
import type { InboxItem, InboxSnapshot } from './types.js';

/** What a view shows before it has read anything. */
export const emptyInbox: InboxSnapshot = {
  items: [],
  unread: { last_read_sequence: 0, unread_count: 0, unread_count_capped: false, updated_at: null },
  connection: 'connecting',
  hasMore: false,
  loading: true,
  error: null,
};

export const itemsOf = (rows: readonly Notification[], { last_read_sequence: read }: Marker): readonly InboxItem[] =>
  rows.map((row) => ({ ...row, isUnread: row.sequence > read }));
