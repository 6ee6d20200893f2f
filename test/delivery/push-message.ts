import { randomUUID } from 'node:crypto';
import type { PushMessage } from '../../src/notifications/push/sender.js';

/** A push message of a new notification. */
export function pushMessage(): PushMessage {
  const id = randomUUID();
  return {
    deliveryId: randomUUID(),
    collapseId: id,
    content: {
      id,
      notification_type: 'payment',
      notification_key: null,
      title: 'Ada',
      body: 'Ada paid you 12.50',
      sequence: 42,
    },
    ttl: 3600,
    urgency: 'high',
  };
}
