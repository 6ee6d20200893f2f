import type { Image, Notification } from '../contract/notification.js';

/** What a publisher writes of a notification, as the columns hold it. */
export interface Content {
  readonly actor_id: string | null;
  readonly actor: string | null;
  readonly notification_type: string;
  readonly notification_key: string | null;
  readonly object_id: string | null;
  /** The decimal's text: a `numeric` is exact, and arrives as text for that reason. */
  readonly object_data_number: string | null;
  readonly object_data_string: string;
  readonly description: string;
  readonly image_id: string | null;
}

/** A row of `notifications`, without its `change_sequence`. */
export interface NotificationRow extends Content {
  readonly id: string;
  readonly user_id: string;
  readonly sequence: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The columns of a `NotificationRow`, for select lists. */
export const notificationColumns = `id, user_id, sequence, actor_id, actor, notification_type, notification_key, object_id,
  object_data_number, object_data_string, description, image_id, created_at, updated_at`;

/** `images` must hold the row's own image. */
export function toNotification(row: NotificationRow, images: ReadonlyMap<string, Image>): Notification {
  return {
    id: row.id,
    user_id: row.user_id,
    sequence: row.sequence,
    actor_id: row.actor_id,
    actor: row.actor,
    notification_type: row.notification_type,
    notification_key: row.notification_key,
    object_id: row.object_id,
    // Exact: at most 15 significant digits come back from a double as they were.
    object_data_number: row.object_data_number === null ? null : Number(row.object_data_number),
    object_data_string: row.object_data_string,
    description: row.description,
    image: row.image_id === null ? null : (images.get(row.image_id) ?? null),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
