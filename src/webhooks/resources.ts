import type { Database } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { findDevice } from '../devices/queries.js';
import { Problem } from '../lib/problem.js';
import { findImages } from '../notifications/images/rows.js';
import type { ImageUrls } from '../notifications/images/url.js';
import { findReadPositions } from '../notifications/inbox/read-position.js';
import { type NotificationRow, notificationColumns, toNotification } from '../notifications/inbox/row.js';
import type { Users } from '../users/users.js';
import type { WebhookResources } from './payload.js';

const selectNotification = statement<{ userId: string; id: string }, NotificationRow>(
  'webhook_notification',
  (p) => sql`select ${notificationColumns} from notifications where user_id = ${p.userId} and id = ${p.id}`,
);

/** Reads the resources of full payloads when they are sent, so that no copy of personal data waits with an event. */
export function createWebhookResources(options: {
  readonly database: Database;
  readonly users: Pick<Users, 'get'>;
  readonly imageUrlsOf: ImageUrls;
}): WebhookResources {
  const { database, users, imageUrlsOf } = options;

  async function notificationOf(userId: string, id: string) {
    const [row] = await database.user(userId).query(selectNotification({ userId, id }));
    if (row === undefined) return null;
    const imageIds = new Set(row.image_id === null ? [] : [row.image_id]);
    return toNotification(row, await findImages(database, imageIds, imageUrlsOf));
  }
  async function userOf(userId: string) {
    try {
      return await users.get(userId);
    } catch (error) {
      if (error instanceof Problem && error.code === 'not_found') return null;
      throw error;
    }
  }
  return {
    async read({ user_id: userId, type, data }) {
      const [group] = type.split('.');
      const { notification_id, device_id } = data;
      // A request may concern thousands of notifications.
      if (group === 'audit' || type === 'notification.state_changed') return {};
      if (group === 'notification' || group === 'delivery')
        return { notification: await notificationOf(userId, String(notification_id)) };
      // A marker is the read position of the inbox.
      if (group === 'marker') return { marker: (await findReadPositions(database, [userId])).get(userId) ?? null };
      const user = await userOf(userId);
      if (group !== 'device' && group !== 'push') return { user };
      return { user, device: (await findDevice(database.user(userId), userId, String(device_id))) ?? null };
    },
  };
}
