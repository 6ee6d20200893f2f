import type { NotificationInput } from '../../api/schema.js';
import { type DataField, dataOf, dataOfJson, type TypedData } from './data-fields.js';

/** An uploaded image, with the name of its file and its URL at the service. */
export interface UploadedImage {
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

/** The form, as it is typed. */
export interface Form {
  /** Empty: the first type of the installation. */
  readonly type: string;
  readonly key: string;
  readonly actor: string;
  readonly actorId: string;
  readonly number: string;
  readonly description: string;
  readonly objectId: string;
  readonly text: string;
  readonly image: UploadedImage | null;
  readonly imageUrl: string;
  readonly link: string;
  readonly expires: string;
  /** Empty: the category of the type. */
  readonly category: string;
  /** What is typed for the members of the data that the category describes. */
  readonly data: TypedData;
  /** The data as JSON, if the category describes none. */
  readonly json: string;
}

export const emptyForm: Form = {
  type: '',
  key: '',
  actor: '',
  actorId: '',
  number: '',
  description: '',
  objectId: '',
  text: '',
  image: null,
  imageUrl: '',
  link: '',
  expires: '',
  category: '',
  data: {},
  json: '',
};

/** The fields of the form by the names of the API, which errors use. */
export const fieldNames = {
  notification_type: 'type',
  notification_key: 'key',
  actor: 'actor',
  actor_id: 'actorId',
  object_data_number: 'number',
  description: 'description',
  object_id: 'objectId',
  object_data_string: 'text',
  image_id: 'image',
  image: 'imageUrl',
  url: 'link',
  expires_at: 'expires',
  category: 'category',
} as const satisfies Record<Exclude<keyof Content, 'data'>, keyof Form>;

/** The form with a type that the installation has: a new form has none, and a draft can be older than the settings. */
export function withKnownType(draft: Form, types: readonly string[]): Form {
  const form = { ...emptyForm, ...draft };
  return types.includes(form.type) ? form : { ...form, type: types[0] ?? '' };
}

/** A notification without its users, and without what only the code of an app writes. */
export type Content = Omit<NotificationInput, 'user_id' | 'user_ids' | 'actions' | 'replace_key'>;

/**
 * The content in the form of the API. Empty fields are left out.
 * @param fields the members of the data that the category describes; undefined: none
 */
export function contentOf(form: Form, fields: readonly DataField[] | undefined): Content {
  const optionalMembers = {
    notification_key: form.key.trim(),
    actor: form.actor.trim(),
    actor_id: form.actorId.trim(),
    object_id: form.objectId.trim(),
    object_data_string: form.text,
    image_id: form.image?.id ?? '',
    image: form.imageUrl.trim(),
    url: form.link.trim(),
    expires_at: form.expires.trim(),
    category: form.category.trim(),
  };
  const number = form.number.trim();
  const data = fields === undefined ? dataOfJson(form.json) : dataOf(fields, form.data);
  return {
    notification_type: form.type.trim(),
    description: form.description,
    ...Object.fromEntries(Object.entries(optionalMembers).filter(([, value]) => value !== '')),
    ...(number !== '' && { object_data_number: Number(number) }),
    data,
  };
}

/** Whether the text is a number that JSON and the service keep exactly: at most 15 significant digits. */
export function isExactNumber(text: string): boolean {
  const number = text.trim();
  if (number === '') return true;
  if (!/^-?\d+(?:\.\d+)?$/.test(number)) return false;
  return number.replace(/[-.]/g, '').replace(/^0+/, '').length <= 15;
}
