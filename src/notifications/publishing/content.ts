import type { Image, NotificationChange, NotificationInput } from '../../contract/notification.js';
import { kinds } from '../../lib/filter/fields.js';
import { choiceError, type FieldError } from '../../lib/problem.js';
import { type CheckUrl, type ImageUrls, imageUrlError } from '../images/url.js';
import type { Content } from '../inbox/row.js';

/** The rules of an installation for the content of notifications. */
export interface ContentRules {
  readonly types: readonly string[];
  readonly checkUrl: CheckUrl;
  /** The URLs of uploaded images. */
  readonly imageUrlsOf: ImageUrls;
}

/** A notification or a change that matches its schema, with its exact number if the parsed number may be inexact. */
export interface InputItem<Input extends NotificationInput | NotificationChange> {
  readonly input: Input;
  readonly exactNumber?: string | undefined;
  /** The prefix of field names in errors: `3.`, or empty. */
  readonly path: string;
}

/**
 * Errors that the schema does not find.
 * @param images the existing images among those of `imageIds`
 */
export function contentErrors(
  { input, exactNumber, path }: InputItem<NotificationInput | NotificationChange>,
  { types, checkUrl }: ContentRules,
  images: ReadonlyMap<string, Image>,
): FieldError[] {
  const errors: FieldError[] = [];
  const { notification_type: type, object_data_number: value, image_id: imageId, image: imageUrl } = input;
  if (type !== undefined && !types.includes(type)) {
    errors.push(choiceError(`${path}notification_type`, types));
  }
  if (isGiven(value) && decimal(exactNumber ?? String(value)) === undefined) {
    errors.push({ field: `${path}object_data_number`, code: 'invalid_number' });
  }
  if (isGiven(imageId) && isGiven(imageUrl)) {
    errors.push({ field: `${path}image`, code: 'conflicting_fields', params: { fields: 'image_id, image' } });
  }
  if (isGiven(imageId) && !images.has(imageId.toLowerCase())) {
    errors.push({ field: `${path}image_id`, code: 'unknown_image' });
  }
  const urlError = isGiven(imageUrl) ? imageUrlError(imageUrl, `${path}image`, checkUrl) : undefined;
  if (urlError !== undefined) errors.push(urlError);
  return errors;
}

/** The ids of the images that the items refer to, in lower case. */
export function imageIds(items: readonly InputItem<NotificationInput | NotificationChange>[]): Set<string> {
  return new Set(items.flatMap(({ input }) => input.image_id?.toLowerCase() ?? []));
}

/** The URLs of the images that the items show. */
export function imageUrls(items: readonly InputItem<NotificationInput | NotificationChange>[]): Set<string> {
  return new Set(items.flatMap(({ input }) => input.image ?? []));
}

/** The content of a new notification. @param newImages the images of `imageUrls`, by URL */
export function contentOf(item: InputItem<NotificationInput>, newImages: ReadonlyMap<string, Image>): Content {
  const { notification_type, description } = item.input;
  const columns = writtenColumns(item, newImages);
  // Copies each member. To spread a thousand objects would take longer than all other work of publishing.
  return {
    actor_id: columns.actor_id ?? null,
    actor: columns.actor ?? null,
    notification_type,
    notification_key: columns.notification_key ?? null,
    object_id: columns.object_id ?? null,
    object_data_number: columns.object_data_number ?? null,
    object_data_string: columns.object_data_string ?? '',
    description,
    image_id: columns.image_id ?? null,
  };
}

/** The columns that a change writes: one for each member that is present. */
export function changedContent(
  item: InputItem<NotificationInput | NotificationChange>,
  newImages: ReadonlyMap<string, Image>,
): Partial<Content> {
  const columns = writtenColumns(item, newImages);
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** The columns of an input; undefined where a member is absent. */
function writtenColumns(
  { input, exactNumber }: InputItem<NotificationInput | NotificationChange>,
  newImages: ReadonlyMap<string, Image>,
): { readonly [Column in keyof Content]: Content[Column] | undefined } {
  const value = input.object_data_number;
  return {
    actor_id: lowerCase(input.actor_id),
    actor: input.actor,
    notification_type: input.notification_type,
    notification_key: input.notification_key,
    object_id: lowerCase(input.object_id),
    object_data_number: isGiven(value) ? decimal(exactNumber ?? String(value)) : value,
    object_data_string: input.object_data_string,
    description: input.description,
    image_id: imageIdOf(input, newImages),
  };
}

/**
 * The id of the image that the input names by id or by URL. Null, for either of them, removes the image. Undefined
 * keeps it.
 */
function imageIdOf(
  { image_id: id, image: url }: NotificationInput | NotificationChange,
  newImages: ReadonlyMap<string, Image>,
): string | null | undefined {
  if (isGiven(id)) return id.toLowerCase();
  if (isGiven(url)) return newImages.get(url)?.id;
  return id === null || url === null ? null : undefined;
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

function lowerCase(id: string | null | undefined): string | null | undefined {
  return id?.toLowerCase() ?? id;
}

/**
 * Applies the rule of filters (15 digits, 1e-300 to 1e300, `-0` is 0), so that a filter can match every published
 * number.
 */
function decimal(text: string): string | undefined {
  return kinds.number.read(text, { kind: 'number' });
}
