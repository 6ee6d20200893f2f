import type { Static } from 'typebox';
import type { Image } from '../../contract/image.js';
import type { Notification } from '../../contract/notification.js';
import { type FieldsWith, fieldsWith, type notificationFields } from '../../contract/notification-fields.js';
import { identifier, join } from '../../database/sql.js';

type Fields = typeof notificationFields;
type ContentColumn = FieldsWith<'column' | 'input'> | Exclude<FieldsWith<'column'>, FieldsWith<'answer'>>;

/** The value of a column that a publisher sets: its text. Decimals are text, because a double may be less exact. */
type ContentValue<Field> = Field extends { readonly isRequired: true } | { readonly isNotNull: true }
  ? string
  : string | null;

/** The fields of a notification that a publisher sets, as stored in the columns. */
export type Content = { readonly [Name in ContentColumn]: ContentValue<Fields[Name]> };

/** The columns that the service sets. */
type Generated = {
  readonly [Name in Exclude<FieldsWith<'column' | 'answer'>, ContentColumn>]: Static<Fields[Name]['answer']>;
};

/** A row of `notifications`, without its `change_sequence` and without what only `include=extra` reads. */
export type NotificationRow = Omit<Generated & Content, FieldsWith<'isReadOnRequest'>>;

/** The names of the columns of a `NotificationRow`. */
export const columnNames = fieldsWith('column').flatMap(([name, { isReadOnRequest }]) => (isReadOnRequest ? [] : name));

/** The columns of a `Content`. */
export const contentColumns = fieldsWith('column').flatMap(([name, { column: type, input, answer }]) =>
  input === undefined && answer !== undefined ? [] : { name: name as keyof Content, type },
);

/** SQL: the columns of a `NotificationRow`, for select lists. */
export const notificationColumns = join(columnNames.map(identifier), ', ');

/** @param images contains the image of the row */
export function toNotification(row: NotificationRow, images: ReadonlyMap<string, Image>): Notification {
  return notificationOf(row, row, images);
}

/**
 * Joins the content from the publisher with the values that the database generated.
 * @param images contains the notification's image
 */
export function notificationOf(
  content: Omit<Content, FieldsWith<'isReadOnRequest'>>,
  generated: Generated,
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
