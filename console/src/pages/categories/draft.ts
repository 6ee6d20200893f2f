import type {
  CapOverflow,
  Category,
  CategoryInput,
  MessageTemplate,
  StepChannel,
  StepCondition,
  Weekday,
} from '../../api/schema.js';
import { channels } from './queries.js';

/** What users see in one language. */
export interface DraftText {
  readonly locale: string;
  readonly title: string;
  readonly description: string;
}
export interface DraftStep {
  readonly channel: StepChannel;
  readonly after: string;
  readonly if: StepCondition;
}
export interface DraftTemplate extends Readonly<Record<'subject' | 'title' | 'text' | 'html', string>> {
  readonly channel: StepChannel;
  readonly locale: string;
}

export interface DraftCap {
  readonly count: string;
  readonly per: string;
  readonly overflow: CapOverflow;
}
/** When a digest closes: a time after its first notification, or a time of the week on the wall clock of the user. */
export interface DraftDigest {
  readonly schedule: 'after' | 'daily' | 'weekly';
  readonly length: string;
  readonly day: Weekday;
  readonly time: string;
  readonly maxItems: string;
}
export const newCap: DraftCap = { count: '3', per: '1d', overflow: 'drop' };
export const newDigest: DraftDigest = { schedule: 'daily', length: '1h', day: 'mon', time: '09:00', maxItems: '20' };

/** A category as the form has it. */
export interface Draft {
  readonly texts: readonly DraftText[];
  readonly isCritical: boolean;
  readonly steps: readonly DraftStep[];
  readonly defaults: Category['defaults'];
  readonly cap: DraftCap | null;
  readonly digest: DraftDigest | null;
  readonly ttl: string;
  /** JSON, or empty. */
  readonly schema: string;
  readonly templates: readonly DraftTemplate[];
}

const isChannel = (name: string | undefined): name is StepChannel => channels.some((channel) => channel === name);

export function draftOf(category: Category): Draft {
  const {
    title,
    description,
    is_critical: isCritical,
    steps,
    defaults,
    cap,
    digest,
    ttl,
    data_schema: schema,
  } = category;
  const locales = [...new Set([...Object.keys(title), ...Object.keys(description)])].sort();
  return {
    texts: locales.map((locale) => ({
      locale,
      title: title[locale] ?? '',
      description: description[locale] ?? '',
    })),
    cap: cap && { count: String(cap.count), per: cap.per, overflow: cap.overflow },
    digest: digest && { ...scheduleOf(digest.every), maxItems: String(digest.max_items) },
    isCritical,
    steps,
    defaults,
    ttl: ttl ?? '',
    schema: schema === null ? '' : JSON.stringify(schema, null, 2),
    templates: Object.entries(category.templates)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([name, { subject, title: heading, text, html }]) => {
        const [channel, ...locale] = name.split('.');
        if (!isChannel(channel)) return [];
        const parts = { subject: subject ?? '', title: heading ?? '', text, html: html ?? '' };
        return [{ channel, locale: locale.join('.'), ...parts }];
      }),
  };
}

function scheduleOf(every: string): Omit<DraftDigest, 'maxItems'> {
  const [kind = '', ...rest] = every.split(' ');
  const time = rest.at(-1) ?? newDigest.time;
  if (kind === 'daily') return { ...newDigest, schedule: 'daily', time };
  if (kind === 'weekly') return { ...newDigest, schedule: 'weekly', day: rest[0] as Weekday, time };
  return { ...newDigest, schedule: 'after', length: every };
}

function everyOf({ schedule, length, day, time }: DraftDigest): string {
  if (schedule === 'after') return length.trim();
  return schedule === 'daily' ? `daily ${time}` : `weekly ${day} ${time}`;
}

/** The parts of a text that a channel has, beside `text`. */
export const partsOf = {
  push: ['title'],
  email: ['subject', 'html'],
  sms: [],
} as const satisfies Record<StepChannel, readonly (keyof MessageTemplate)[]>;

export const templateName = ({ channel, locale }: Pick<DraftTemplate, 'channel' | 'locale'>) =>
  `${channel}.${locale.trim()}`;

function templateOf(template: DraftTemplate): MessageTemplate {
  const filled = partsOf[template.channel].filter((part) => template[part] !== '');
  return { text: template.text, ...Object.fromEntries(filled.map((part) => [part, template[part]])) };
}

/** Faults that the service cannot see, because the request could not contain them: by the names of fields. */
export function draftFaults(draft: Draft, texts: { readonly twice: string; readonly notJson: string }) {
  const faults: Record<string, string> = {};
  const findTwice = (names: readonly string[], fieldOf: (index: number) => string) => {
    for (const [index, name] of names.entries())
      if (names.indexOf(name) !== index) faults[fieldOf(index)] = texts.twice;
  };
  findTwice(
    draft.texts.map(({ locale }) => locale.trim()),
    (index) => `texts.${index}`,
  );
  findTwice(draft.templates.map(templateName), (index) => `templates.${index}`);
  try {
    if (draft.schema.trim() !== '') JSON.parse(draft.schema);
  } catch {
    faults.data_schema = texts.notJson;
  }
  return faults;
}

/** The body of the request. @throws SyntaxError if the schema is no JSON */
export function inputOf(draft: Draft): CategoryInput {
  const { texts, isCritical, steps, defaults, cap, digest, ttl, schema, templates } = draft;
  const localized = (part: 'title' | 'description') =>
    Object.fromEntries(
      texts.flatMap((text) => (text[part].trim() === '' ? [] : [[text.locale.trim(), text[part].trim()]])),
    );
  return {
    title: localized('title'),
    description: localized('description'),
    is_critical: isCritical,
    defaults,
    steps: steps.map((step) => ({ ...step, after: step.after.trim() })),
    // The service refuses what is no number.
    cap: cap && { count: Number(cap.count), per: cap.per.trim(), overflow: cap.overflow },
    digest: digest && { every: everyOf(digest), max_items: Number(digest.maxItems) },
    ttl: ttl.trim() === '' ? null : ttl.trim(),
    data_schema: schema.trim() === '' ? null : JSON.parse(schema),
    templates: Object.fromEntries(templates.map((template) => [templateName(template), templateOf(template)])),
  };
}
