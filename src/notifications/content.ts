import type { Image, NotificationChange, NotificationInput } from '../contract/notification.js';
import { kinds } from '../lib/filter/fields.js';
import { choiceFault, type FieldError } from '../lib/problem.js';
import { type CheckUrl, type ImageUrls, imageUrlFault } from './images/url.js';
import type { Content } from './row.js';

/** What an installation allows in notifications. */
export interface ContentRules {
  readonly types: readonly string[];
  readonly checkUrl: CheckUrl;
  /** Where uploaded images are. */
  readonly imageUrlsOf: ImageUrls;
}

/** A notification or a change that fits its schema, with its number as it was written, where that is known. */
export interface Written<Input extends NotificationInput | NotificationChange> {
  readonly input: Input;
  readonly number?: string | undefined;
  /** Goes before the names of fields in faults: `3.`, or nothing. */
  readonly path: string;
}

/** What is wrong beyond the schema. `images` are those that exist among the ids of `imageIds`. */
export function contentFaults(
  { input, number, path }: Written<NotificationInput | NotificationChange>,
  { types, checkUrl }: ContentRules,
  images: ReadonlyMap<string, Image>,
): FieldError[] {
  const faults: FieldError[] = [];
  const { notification_type: type, object_data_number: value, image_id: imageId, image: imageUrl } = input;
  if (type !== undefined && !types.includes(type)) {
    faults.push(choiceFault(`${path}notification_type`, types));
  }
  if (isGiven(value) && decimal(number ?? String(value)) === undefined) {
    faults.push({ field: `${path}object_data_number`, code: 'invalid_number' });
  }
  if (isGiven(imageId) && isGiven(imageUrl)) {
    faults.push({ field: `${path}image`, code: 'conflicting_fields', params: { fields: 'image_id, image' } });
  }
  if (isGiven(imageId) && !images.has(imageId.toLowerCase())) {
    faults.push({ field: `${path}image_id`, code: 'unknown_image' });
  }
  const urlFault = isGiven(imageUrl) ? imageUrlFault(imageUrl, `${path}image`, checkUrl) : undefined;
  if (urlFault !== undefined) faults.push(urlFault);
  return faults;
}

/** The ids of existing images that these refer to. */
export function imageIds(written: readonly Written<NotificationInput | NotificationChange>[]): Set<string> {
  return new Set(written.flatMap(({ input }) => input.image_id?.toLowerCase() ?? []));
}

/** The URLs that these want images of. */
export function imageUrls(written: readonly Written<NotificationInput | NotificationChange>[]): Set<string> {
  return new Set(written.flatMap(({ input }) => input.image ?? []));
}

/** The whole content of a new notification. `created` are the images of `imageUrls`. */
export function contentOf(written: Written<NotificationInput>, created: ReadonlyMap<string, Image>): Content {
  const { notification_type, description } = written.input;
  const columns = writtenColumns(written, created);
  // Member by member: a thousand objects that are copied and spread take longer than all else of publishing them.
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

/** The columns that a change writes: those of its members that are present. */
export function changedContent(
  written: Written<NotificationInput | NotificationChange>,
  created: ReadonlyMap<string, Image>,
): Partial<Content> {
  const columns = writtenColumns(written, created);
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** Undefined where a member is absent. */
function writtenColumns(
  { input, number }: Written<NotificationInput | NotificationChange>,
  created: ReadonlyMap<string, Image>,
): { readonly [Column in keyof Content]: Content[Column] | undefined } {
  const value = input.object_data_number;
  return {
    actor_id: lowerCase(input.actor_id),
    actor: input.actor,
    notification_type: input.notification_type,
    notification_key: input.notification_key,
    object_id: lowerCase(input.object_id),
    object_data_number: isGiven(value) ? decimal(number ?? String(value)) : value,
    object_data_string: input.object_data_string,
    description: input.description,
    image_id: imageIdOf(input, created),
  };
}

/** Whichever of the two is given; null for either takes the image away; undefined leaves it. */
function imageIdOf(
  { image_id: id, image: url }: NotificationInput | NotificationChange,
  created: ReadonlyMap<string, Image>,
): string | null | undefined {
  if (isGiven(id)) return id.toLowerCase();
  if (isGiven(url)) return created.get(url)?.id;
  return id === null || url === null ? null : undefined;
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

function lowerCase(id: string | null | undefined): string | null | undefined {
  return id?.toLowerCase() ?? id;
}

/** The rule of filters, so that what can be published can be filtered by: 15 digits, 1e-300 to 1e300, `-0` is 0. */
function decimal(text: string): string | undefined {
  return kinds.number.read(text, { kind: 'number' });
}
