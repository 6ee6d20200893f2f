import type { Image, Notification } from '../../contract/notification.js';
import { identifier, join } from '../../database/sql.js';

/** The fields of a notification that a publisher sets, as stored in the columns. */
export interface Content {
  readonly actor_id: string | null;
  readonly actor: string | null;
  readonly notification_type: string;
  readonly notification_key: string | null;
  readonly object_id: string | null;
  /** The decimal as text, because a number in JavaScript may be less exact than PostgreSQL's `numeric`. */
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

/** The columns of a `NotificationRow`. */
export const notificationFields = [
  'id',
  'user_id',
  'sequence',
  'actor_id',
  'actor',
  'notification_type',
  'notification_key',
  'object_id',
  'object_data_number',
  'object_data_string',
  'description',
  'image_id',
  'created_at',
  'updated_at',
] as const satisfies (keyof NotificationRow)[];

/** SQL: the columns of a `NotificationRow`, for select lists. */
export const notificationColumns = join(notificationFields.map(identifier), ', ');

/** @param images contains the image of the row */
export function toNotification(row: NotificationRow, images: ReadonlyMap<string, Image>): Notification {
  return notificationOf(row, row, images);
}

/**
 * Joins the content from the publisher with the values that the database generated.
 * @param images contains the notification's image
 */
export function notificationOf(
  content: Content,
  generated: Omit<NotificationRow, keyof Content>,
  images: ReadonlyMap<string, Image>,
): Notification {
  return {
    id: generated.id,
    user_id: generated.user_id,
    sequence: generated.sequence,
    actor_id: content.actor_id,
    actor: content.actor,
    notification_type: content.notification_type,
    notification_key: content.notification_key,
    object_id: content.object_id,
    object_data_number: toNumber(content.object_data_number),
    object_data_string: content.object_data_string,
    description: content.description,
    image: content.image_id === null ? null : (images.get(content.image_id) ?? null),
    created_at: generated.created_at,
    updated_at: generated.updated_at,
  };
}

/** The number of `object_data_number`. It has at most 15 significant digits, so a double holds it exactly. */
export function toNumber(decimal: string | null): number | null {
  return decimal === null ? null : Number(decimal);
}
