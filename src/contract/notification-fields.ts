import { type Static, type TSchema, Type } from 'typebox';
import {
  AnyObject,
  Id,
  IdInput,
  NullableId,
  NullableNumber,
  NullableString,
  NullableTime,
  Text,
  Time,
} from './common.js';
import { Image } from './image.js';

/** What differs from field to field of a notification. */
interface NotificationField {
  /** The member of answers. A field without it is not shown to clients. */
  readonly answer?: TSchema;
  /** The member of requests. A field without it is set by the service. */
  readonly input?: TSchema;
  /** The member of `extra`, which only requests with `include=extra` get. */
  readonly extra?: TSchema;
  /** Whether a request to publish must have the member. All other members are optional, and a change needs none. */
  readonly isRequired?: true;
  /** The type of the column, which has the name of the field. A field without it is computed from others. */
  readonly column?: 'uuid' | 'text' | 'numeric' | 'bigint' | 'timestamptz' | 'jsonb' | 'boolean';
  /** Whether only requests with `include=extra` read the column. */
  readonly isReadOnRequest?: true;
  /** Whether the column of an optional member is never null. */
  readonly isNotNull?: true;
  /** How filters read values of the field (`FieldKind`). A field without it cannot be used in filters. */
  readonly filter?: 'id' | 'string' | 'enum' | 'key' | 'number' | 'integer' | 'time';
}

const idInput = Type.Unsafe<string | null>({ ...IdInput, type: ['string', 'null'] });
const shortText = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 255 });

const AnyData = AnyObject('Values of the app, at most 8 KB as JSON.', 'NotificationData');
const optionalUrl = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 2048,
  description: 'What opens when the user opens the notification: an https URL, or one of a private scheme with a dot.',
  examples: ['https://example.com/orders/7'],
});

/** A choice that a notification offers, in requests and in answers. */
const NewNotificationAction = Type.Object(
  {
    key: Type.String({ pattern: '^[a-z][a-z0-9_.-]{0,63}$', examples: ['accept'] }),
    label: Text(80, 1),
    url: Type.Optional(optionalUrl),
  },
  { title: 'NewNotificationAction', examples: [{ key: 'accept', label: 'Accept' }] },
);
const NotificationAction = Type.Object(
  { key: Type.String(), label: Type.String(), url: Type.Optional(NullableString) },
  { title: 'NotificationAction', examples: [{ key: 'accept', label: 'Accept' }] },
);
const maxActions = 3;

/**
 * The fields of a notification, in the order of answers. Types, schemas, columns, statements, filters and the types of the
 * client derive from this table. The columns of a new field need a migration, and what the table cannot say is in
 * `notifications/publishing/validation.ts` (rules for values), `notifications/publishing/content.ts` (columns) and
 * `notifications/inbox/row.ts` (answers).
 */
export const notificationFields = {
  id: { answer: Id, column: 'uuid', filter: 'id' },
  user_id: { answer: Id, column: 'uuid', filter: 'id' },
  sequence: {
    answer: Type.Integer({ description: "The notification's position in the user's inbox. Gaps are normal." }),
    column: 'bigint',
    filter: 'integer',
  },
  actor_id: { answer: NullableId, input: idInput, column: 'uuid', filter: 'id' },
  actor: { answer: NullableString, input: shortText, column: 'text', filter: 'string' },
  notification_type: {
    answer: Type.String({ description: 'payment, pool or request, unless the operator allows more.' }),
    input: Type.String({ minLength: 1, maxLength: 32 }),
    isRequired: true,
    column: 'text',
    filter: 'enum',
  },
  notification_key: { answer: NullableString, input: shortText, column: 'text', filter: 'key' },
  object_id: { answer: NullableId, input: idInput, column: 'uuid', filter: 'id' },
  object_data_number: {
    answer: NullableNumber,
    input: Type.Unsafe<number | null>({
      type: ['number', 'null'],
      description: 'At most 15 significant digits, kept exactly.',
    }),
    column: 'numeric',
    filter: 'number',
  },
  object_data_string: { answer: Type.String(), input: Text(4096), column: 'text', isNotNull: true, filter: 'string' },
  description: { answer: Type.String(), input: Text(4096, 1), isRequired: true, column: 'text', filter: 'string' },
  /** The column of `image`. A request names an uploaded image by its id, or an external one by its URL. */
  image_id: { input: idInput, column: 'uuid' },
  image: {
    answer: Type.Unsafe<Image | null>({ ...Image, type: ['object', 'null'] }),
    input: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 2048,
      description: 'The URL of an external image, instead of image_id. Postern does not copy it.',
    }),
  },
  data: {
    input: Type.Unsafe<Record<string, unknown> | null>({ ...AnyData, type: ['object', 'null'] }),
    extra: Type.Unsafe<Record<string, unknown> | null>({ ...AnyData, type: ['object', 'null'] }),
  },
  url: { input: optionalUrl, extra: NullableString },
  actions: {
    input: Type.Array(NewNotificationAction, { maxItems: maxActions }),
    extra: Type.Array(NotificationAction),
  },
  expires_at: {
    input: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'From this time on (RFC 3339) the notification is not counted, and its actions cannot be chosen.',
    }),
    extra: NullableTime,
    column: 'timestamptz',
    isReadOnRequest: true,
  },
  /** What a request to publish names, and a change does not: see `publishedMembers`. Null: the category of the type. */
  category: { column: 'text', isReadOnRequest: true, filter: 'key' },
  replace_key: { column: 'text', isReadOnRequest: true },
  /** The topic to which it was published; null: to none. */
  topic: { column: 'text', isReadOnRequest: true },
  /**
   * Whether the user does not want it in the inbox. In a new notification: whether the category hides it by default, or null if
   * nobody has chosen otherwise.
   */
  is_hidden: { column: 'boolean', isReadOnRequest: true },
  /** The column of `data`, `url` and `actions`. */
  extra: { column: 'jsonb', isReadOnRequest: true },
  created_at: { answer: Time, column: 'timestamptz', filter: 'time' },
  updated_at: { answer: Time, column: 'timestamptz', filter: 'time' },
} as const satisfies Record<string, NotificationField>;

type Fields = typeof notificationFields;
export type NotificationAction = Static<typeof NotificationAction>;

/** The names of the fields that have all of these properties. */
export type FieldsWith<Property extends keyof NotificationField> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly [Key in Property]: unknown } ? Name : never;
}[keyof Fields];

/** The names and definitions of the fields that have this property, in the order of the table. */
export function fieldsWith<Property extends keyof NotificationField>(
  property: Property,
): [FieldsWith<Property>, NotificationField & Required<Pick<NotificationField, Property>>][] {
  const found = Object.entries<NotificationField>(notificationFields).filter(([, field]) => property in field);
  return found as ReturnType<typeof fieldsWith<Property>>;
}

/** The members of answers. */
export const answerMembers = Object.fromEntries(fieldsWith('answer').map(([name, { answer }]) => [name, answer])) as {
  readonly [Name in FieldsWith<'answer'>]: Fields[Name]['answer'];
};

/** The members of `extra`, without those that are computed. */
export const extraMembers = Object.fromEntries(fieldsWith('extra').map(([name, { extra }]) => [name, extra])) as {
  readonly [Name in FieldsWith<'extra'>]: Fields[Name]['extra'];
};

type ExtraName = Exclude<FieldsWith<'extra' | 'input'>, FieldsWith<'column'>>;

/** The members of requests that the column `extra` stores, as JSON. */
export const extraNames = fieldsWith('extra').flatMap(([name, { column }]) =>
  column === undefined ? [name as ExtraName] : [],
);

type RequiredName = FieldsWith<'input' | 'isRequired'>;
type OptionalName = Exclude<FieldsWith<'input'>, RequiredName>;

/** The members that a request to publish must have. */
const requiredMembers = Object.fromEntries(
  fieldsWith('isRequired').flatMap(([name, { input }]) => (input === undefined ? [] : [[name, input]])),
) as { readonly [Name in RequiredName]: Fields[Name]['input'] };

/** The members that a request to publish may have. */
const optionalMembers = Object.fromEntries(
  fieldsWith('input').flatMap(([name, { input, isRequired }]) => (isRequired ? [] : [[name, Type.Optional(input)]])),
) as { readonly [Name in OptionalName]: ReturnType<typeof Type.Optional<Fields[Name]['input']>> };

/** The members of a request to publish that a change may have too. */
export const inputMembers = { ...requiredMembers, ...optionalMembers };

/** The members of a request to publish, without its users. */
export const publishedMembers = {
  ...inputMembers,
  category: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 64,
      description: 'The name of a category. Absent: the category of the notification type.',
      examples: ['billing'],
    }),
  ),
  replace_key: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 255,
      description:
        "Removes the user's earlier notification with the same key, of any category, in the same transaction.",
    }),
  ),
};
