import type { PushChannel } from '../../contract/push.js';
import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { type NotificationRow, notificationColumns, toNotification } from '../inbox/row.js';
import type { DeliveryRow, End } from './attempt.js';
import type { PushJob } from './deliveries.js';
import type { PushTarget } from './devices.js';
import { pushContent } from './message.js';
import { isMuted, readMutes } from './mutes.js';
import { noticeContent } from './notice.js';
import type { PushOptions } from './plan.js';
import type { PushContent, PushMessage } from './sender.js';

const selectNotification = statement<{ userId: string; id: string }, NotificationRow>(
  'push_notification',
  (p) => sql`select ${notificationColumns} from notifications where user_id = ${p.userId} and id = ${p.id}`,
);

export interface PreparationOptions extends Pick<PushOptions, 'devices' | 'fields'> {
  readonly database: Database;
  readonly urgency: PushMessage['urgency'];
}

/** What a sender needs for an attempt. */
export interface Prepared extends PushTarget {
  readonly message: PushMessage;
}

/**
 * Returns the message and the token of the device, or the reason why the push is not sent. All data is read again,
 * because it may have changed.
 */
export type PreparePush = (channel: PushChannel, job: PushJob, row: DeliveryRow) => Promise<End | Prepared>;

/** Creates the function that prepares an attempt. */
export function createPreparation({ database, devices, fields, urgency }: PreparationOptions): PreparePush {
  /** The content of a notification, unless it was deleted or is muted. */
  async function contentOf(job: PushJob, row: DeliveryRow): Promise<End | PushContent> {
    const key = { userId: job.user_id, id: row.notification_id };
    const [notification] = await database.user(job.user_id).query(selectNotification(key));
    if (notification === undefined) return { state: 'dropped', reason: 'notification_deleted' };
    if (isMuted(readMutes(row.mutes, fields), toNotification(notification, new Map())))
      return { state: 'muted', reason: 'muted' };
    return pushContent(notification);
  }

  return async (channel, job, row) => {
    if (row.seconds_left < 1) return { state: 'expired', reason: 'expired' };
    const content = row.notice ? noticeContent(row.notification_id, row.notice) : await contentOf(job, row);
    if ('state' in content) return content;
    const target = await devices.target(database.user(job.user_id), {
      user_id: job.user_id,
      device_id: row.device_id,
      channel,
    });
    if ('unreachable' in target) return { state: 'dropped', reason: target.unreachable };
    const message: PushMessage = {
      deliveryId: job.id,
      content,
      ttl: Math.floor(row.seconds_left),
      urgency,
    };
    return { ...target, message };
  };
}
