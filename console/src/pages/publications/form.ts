import type { NewPublication, Publication } from '../../api/schema.js';
import { type Content, contentOf, emptyForm, type Form, fieldNames } from '../notifications/content.js';
import type { DataField } from '../notifications/data-fields.js';
import { readList, referencesOf } from '../notifications/read-ids.js';
import { momentOf, ownZone, wallTimeIn } from './zoned-time.js';

export type TargetMode = 'people' | 'list' | 'topic' | 'filter' | 'everyone' | 'kept';

/** A publication as the form has it. */
export interface PublicationForm {
  readonly content: Form;
  readonly mode: TargetMode;
  readonly people: readonly string[];
  readonly list: string;
  readonly topic: string;
  readonly filter: string;
  /** Whether it starts at a time. Else it starts at once. */
  readonly isLater: boolean;
  readonly wallTime: string;
  readonly zone: string;
  /** Recipients a second. Empty: no limit. */
  readonly rate: string;
}

export const emptyPublication = (): PublicationForm => ({
  content: emptyForm,
  mode: 'people',
  people: [],
  list: '',
  topic: '',
  filter: '',
  isLater: false,
  wallTime: '',
  zone: ownZone(),
  rate: '',
});

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : String(value);

/** The form of a stored publication. A list of users is not stored as text, so it is kept unless another target is chosen. */
export function formOf({ to, notification, send_at: sendAt, rate }: Publication): PublicationForm {
  const stored = notification as Readonly<Record<string, unknown>>;
  const zone = ownZone();
  const target = to as { readonly topic?: string; readonly users?: string; readonly everyone?: true };
  const mode: TargetMode =
    target.topic !== undefined
      ? 'topic'
      : target.users != null
        ? 'filter'
        : target.everyone === true
          ? 'everyone'
          : 'kept';
  const texts = Object.entries(fieldNames).flatMap(([name, field]) =>
    field === 'image' ? [] : [[field, textOf(stored[name])] as const],
  );
  const { image_id: imageId, data } = stored;
  const image = typeof imageId === 'string' ? { id: imageId, name: imageId.slice(0, 8), url: '' } : null;
  const content: Form = { ...emptyForm, ...Object.fromEntries(texts), image };
  return {
    ...emptyPublication(),
    content: data === undefined || data === null ? content : withData(content, data),
    mode,
    topic: target.topic ?? '',
    filter: target.users ?? '',
    zone,
    rate: textOf(rate),
    isLater: sendAt !== null,
    wallTime: sendAt === null ? '' : wallTimeIn(zone, new Date(sendAt)),
  };
}

/** The data as JSON, and as the fields of a schema have it. */
function withData(content: Form, data: unknown): Form {
  const members = typeof data === 'object' && data !== null ? Object.entries(data) : [];
  const typed = members.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  return { ...content, json: JSON.stringify(data), data: Object.fromEntries(typed) };
}

/** What the API calls the target. Undefined: it is not complete, or kept as it is. */
export function targetOf({ mode, people, list, topic, filter }: PublicationForm): NewPublication['to'] | undefined {
  if (mode === 'people') return people.length > 0 ? { user_ids: people } : undefined;
  if (mode === 'topic') return topic.trim() === '' ? undefined : { topic: topic.trim() };
  if (mode === 'filter') return filter.trim() === '' ? undefined : { users: filter.trim() };
  if (mode === 'everyone') return { everyone: true };
  if (mode === 'kept') return undefined;
  const ids = referencesOf(readList(list)).found.map(({ reference }) => reference);
  return ids.length > 0 ? { user_ids: ids } : undefined;
}

/** When it starts, as the API has it. Null: at once. Undefined: the time is missing. */
export function sendAtOf({ isLater, wallTime, zone }: PublicationForm): string | null | undefined {
  if (!isLater) return null;
  return momentOf(zone, wallTime)?.toISOString();
}

/** Undefined: it is no whole number. */
export function rateOf({ rate }: PublicationForm): number | null | undefined {
  if (rate.trim() === '') return null;
  return /^\d{1,6}$/.test(rate.trim()) ? Number(rate.trim()) : undefined;
}

/**
 * The notification of the form.
 * @param stored the stored notification, if a publication is changed. Members that the form does not have stay, such as buttons
 */
export function notificationOf(
  { content }: PublicationForm,
  fields: readonly DataField[] | undefined,
  stored: Readonly<Record<string, unknown>> = {},
): Content {
  const { actions, replace_key: replaceKey } = stored;
  return {
    ...contentOf(content, fields),
    ...(actions !== undefined && { actions }),
    ...(replaceKey !== undefined && { replace_key: replaceKey }),
  };
}
