import type { Image } from '../../contract/image.js';
import type { NotificationChange, NotificationInput } from '../../contract/notification.js';
import { extraNames } from '../../contract/notification-fields.js';
import { kinds } from '../../lib/filter/fields.js';
import { parseTime } from '../../lib/times.js';
import type { KnownCategories } from '../categories/categories.js';
import { type Content, contentColumns } from '../inbox/row.js';

/** A notification or a change that matches its schema, with its exact number if the parsed number may be inexact. */
export interface InputItem<Input extends NotificationInput | NotificationChange> {
  readonly input: Input;
  readonly exactNumber?: string | undefined;
  /** The prefix of field names in errors: `3.`, or empty. */
  readonly path: string;
  /** The topic to which it is published. Undefined: to none. */
  readonly topic?: PublishedTopic | undefined;
}

/** A topic to which a notification is published. */
export interface PublishedTopic {
  readonly key: string;
  /** Whether any user has a choice about the inbox for this topic. */
  readonly hasInboxChoices: boolean;
}

/**
 * The content of a new notification. It names each member, because a loop over `contentColumns` takes four times as long, which is 3 % of
 * the time of publishing a thousand notifications.
 * @param newImages the images of `imageUrls`, by URL
 */
export function contentOf(
  { input, exactNumber, topic }: InputItem<NotificationInput>,
  newImages: ReadonlyMap<string, Image>,
  categories: Pick<KnownCategories, 'isHidden' | 'get'>,
): Content {
  return {
    actor_id: idOf(input.actor_id) ?? null,
    actor: input.actor ?? null,
    notification_type: input.notification_type,
    notification_key: input.notification_key ?? null,
    object_id: idOf(input.object_id) ?? null,
    object_data_number: decimalOf(input.object_data_number, exactNumber) ?? null,
    object_data_string: input.object_data_string ?? '',
    description: input.description,
    image_id: imageIdOf(input, newImages) ?? null,
    expires_at: timeOf(input.expires_at) ?? null,
    category: input.category === input.notification_type ? null : (input.category ?? null),
    replace_key: input.replace_key ?? null,
    topic: topic?.key ?? null,
    is_hidden: hiddenByDefault(input, topic, categories)?.toString() ?? null,
    extra: (hasExtra(input) ? extraText(input, isGiven) : null) ?? null,
  };
}

/**
 * Whether it is hidden from users who have chosen nothing. Null: choices cannot hide it (nobody has one, or the category is critical), so none
 * is read.
 */
function hiddenByDefault(
  { category, notification_type: type }: NotificationInput,
  topic: PublishedTopic | undefined,
  categories: Pick<KnownCategories, 'isHidden' | 'get'>,
): boolean | null {
  const name = category ?? type;
  const isHidden = categories.isHidden(name);
  if (isHidden !== null || topic?.hasInboxChoices !== true) return isHidden;
  return categories.get(name)?.is_critical === true ? null : false;
}

/** It names each member, as `contentOf` does: it runs for every notification. */
const hasExtra = ({ data, url, actions }: NotificationInput) => isGiven(data) || isGiven(url) || isGiven(actions);

/** The members of the column `extra` that the input has, as JSON. @param isKept whether a value is written */
function extraText(
  input: NotificationInput | NotificationChange,
  isKept: (value: unknown) => boolean,
): string | undefined {
  const given = extraNames.map((name) => [name, input[name]] as const).filter(([, value]) => isKept(value));
  return given.length === 0 ? undefined : JSON.stringify(Object.fromEntries(given));
}

/** A time as it is stored. `contentErrors` has checked it. */
const timeOf = (text: string | null | undefined) => (isGiven(text) ? parseTime(text) : text);

/** The columns that a change writes: one for each member that is present. */
export function changedContent(
  { input, exactNumber }: InputItem<NotificationChange>,
  newImages: ReadonlyMap<string, Image>,
): Partial<Content> {
  const written = ({ name, type }: (typeof contentColumns)[number]) => {
    if (name === 'image_id') return imageIdOf(input, newImages);
    if (name === 'expires_at') return timeOf(input.expires_at);
    // A member that is null is removed.
    if (name === 'extra') return extraText(input, (member) => member !== undefined);
    // A change keeps them.
    if (name === 'category' || name === 'replace_key' || name === 'topic' || name === 'is_hidden') return undefined;
    const value = input[name];
    if (typeof value === 'number') return decimalOf(value, exactNumber);
    return type === 'uuid' ? idOf(value) : value;
  };
  const columns = contentColumns.map((column) => [column.name, written(column)]);
  return Object.fromEntries(columns.filter(([, value]) => value !== undefined));
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

/** Whether a member has a value. */
export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

const idOf = (id: string | null | undefined) => id?.toLowerCase() ?? id;

/** @param exactText the text of the number, if the parsed number may be inexact */
const decimalOf = (value: number | null | undefined, exactText: string | undefined) =>
  isGiven(value) ? decimal(exactText ?? String(value)) : value;

/**
 * Applies the rule of filters (15 digits, 1e-300 to 1e300, `-0` is 0), so that a filter can match every published
 * number.
 */
export function decimal(text: string): string | undefined {
  return kinds.number.read(text, { kind: 'number' });
}
