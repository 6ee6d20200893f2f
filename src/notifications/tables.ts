/** What this module keeps of a user, for whoever removes a deleted user's rows. */
export const notificationTables = [{ table: 'notifications', key: 'id' }] as const;
