/** What this module keeps of a user, for whoever removes a deleted user's rows. */
export const notificationTables = [
  { table: 'notifications', key: 'sequence' },
  { table: 'inbox_blocks', key: 'block' },
  { table: 'notification_tombstones', key: 'change_sequence' },
  { table: 'markers', key: 'user_id' },
  { table: 'mutes', key: 'id' },
  { table: 'push_deliveries', key: 'id' },
] as const;
