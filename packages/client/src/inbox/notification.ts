import type { NotificationKey, NotificationType } from '../registered.js';
import type { Notification as WireNotification } from '../wire.js';

/** A notification, with the types and keys of your installation: see `Register`. */
export type Notification = Omit<WireNotification, 'notification_type' | 'notification_key'> & {
  readonly notification_type: NotificationType;
  readonly notification_key: NotificationKey | null;
};

/** The read position of the user: see `inbox.marker`. */
export type { Marker } from '../wire.js';
