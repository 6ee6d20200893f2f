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
  return notificationOf(row, row, images);
}

/** A notification of what its publisher wrote and what the database made of it. `images` must hold its image. */
export function notificationOf(
  content: Content,
  made: Omit<NotificationRow, keyof Content>,
  images: ReadonlyMap<string, Image>,
): Notification {
  return {
    id: made.id,
    user_id: made.user_id,
    sequence: made.sequence,
    actor_id: content.actor_id,
    actor: content.actor,
    notification_type: content.notification_type,
    notification_key: content.notification_key,
    object_id: content.object_id,
    // Exact: at most 15 significant digits come back from a double as they were.
    object_data_number: content.object_data_number === null ? null : Number(content.object_data_number),
    object_data_string: content.object_data_string,
    description: content.description,
    image: content.image_id === null ? null : (images.get(content.image_id) ?? null),
    created_at: made.created_at,
    updated_at: made.updated_at,
  };
}
