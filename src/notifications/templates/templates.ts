import type { MessageTemplate, RenderedMessage, StepChannel } from '../../contract/category.js';
import type { FieldError } from '../../lib/problem.js';
import { maxSourceBytes, parseTemplate } from './parse.js';
import { pathFaults, rootShape, shapeOf } from './paths.js';
import { asIs, inHtml, inOneLine, newBudget, render } from './render.js';

/** The templates of a category. A name is a channel, a dot and a locale. */
export type Templates = Readonly<Record<string, MessageTemplate>>;

/** What a template can show of a notification and its user. */
export interface MessageValues {
  readonly actor: string | null;
  readonly description: string;
  readonly url: string | null;
  readonly user: { readonly name: string };
  /** The name of the app. */
  readonly app: string;
  readonly data: Readonly<Record<string, unknown>> | null;
}

type Part = 'subject' | 'title' | 'text' | 'html';

/** The parts that a channel has. */
const partsOf: Readonly<Record<StepChannel, readonly Part[]>> = {
  push: ['title', 'text'],
  email: ['subject', 'text', 'html'],
  sms: ['text'],
};

const escapes = { subject: inOneLine, title: inOneLine, text: asIs, html: inHtml } as const;

/** The channel and the locale of a template's name; undefined if it has another form. */
function readName(name: string): { readonly channel: StepChannel; readonly locale: string } | undefined {
  const [, channel, locale] = /^(push|email|sms)\.([A-Za-z0-9-]{2,35})$/.exec(name) ?? [];
  const canonical = locale === undefined ? undefined : canonicalLocale(locale);
  return channel === undefined || canonical === undefined
    ? undefined
    : { channel: channel as StepChannel, locale: canonical };
}

/** A language tag in its usual form (RFC 5646), such as `es-MX`; undefined for any other text. */
export function canonicalLocale(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}

/**
 * Everything that is wrong with a template.
 * @param name such as `email.es-MX`
 * @param schema the schema of `data`, if the category has one
 * @param field the path of the template in the request
 */
export function templateErrors(name: string, template: MessageTemplate, schema: unknown, field: string): FieldError[] {
  const named = readName(name);
  if (named === undefined) return [{ field, code: 'invalid_template_name' }];
  const allowed = partsOf[named.channel];
  const root = rootShape(schema === null || schema === undefined ? 'any' : shapeOf(schema));
  return (['subject', 'title', 'text', 'html'] as const).flatMap((part): FieldError[] => {
    const source = template[part];
    const place = `${field}.${part}`;
    if (source === undefined) return [];
    if (!allowed.includes(part)) {
      return [
        { field: place, code: 'not_of_channel', params: { channel: named.channel, allowed: allowed.join(', ') } },
      ];
    }
    if (Buffer.byteLength(source) > maxSourceBytes) {
      return [{ field: place, code: 'too_many_bytes', params: { max: maxSourceBytes } }];
    }
    const isOneLine = part === 'subject' || part === 'title';
    if (isOneLine && inOneLine(source) !== source) return [{ field: place, code: 'invalid_characters' }];
    const parsed = parseTemplate(source);
    const faults = 'faults' in parsed ? parsed.faults : pathFaults(parsed.nodes, root);
    return faults.map(({ position, reason, suggestion }) => ({
      field: place,
      code: 'bad_template',
      params: { position, reason, ...(suggestion !== undefined && { suggestion }) },
    }));
  });
}

/** The locales whose texts a user can get, the best first: `es-MX`, then `es`, then `en`. */
function locales(locale: string | null): string[] {
  const parts = (canonicalLocale(locale ?? 'en') ?? 'en').split('-');
  const own = parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
  return [...own, 'en'];
}

const candidates = (channel: StepChannel, locale: string | null) => locales(locale).map((each) => `${channel}.${each}`);

/** The text for a user with this locale; undefined if there is none for it, its language or English. */
export function textFor(texts: Readonly<Record<string, string>>, locale: string): string | undefined {
  const canonical = new Map(Object.entries(texts).map(([name, text]) => [canonicalLocale(name), text]));
  return locales(locale)
    .map((each) => canonical.get(each))
    .find((text) => text !== undefined);
}

/**
 * The message that a channel sends. Without a template for the language of the user, of that language in general or of
 * English, it is the actor, the description and the link.
 * @param timeZone the zone of dates
 * @throws TemplateTooLarge
 */
export function renderMessage(
  templates: Templates,
  {
    channel,
    locale,
    timeZone,
  }: { readonly channel: StepChannel; readonly locale: string | null; readonly timeZone: string },
  values: MessageValues,
): RenderedMessage {
  const byName = new Map<string, { name: string; template: MessageTemplate; locale: string }>(
    Object.entries(templates).flatMap(([name, template]) => {
      const named = readName(name);
      return named === undefined
        ? []
        : [[`${named.channel}.${named.locale}`, { name, template, locale: named.locale }] as const];
    }),
  );
  const found = candidates(channel, locale).flatMap((name) => byName.get(name) ?? [])[0];
  if (found === undefined) return plainMessage(channel, values);
  const budget = newBudget();
  const rendered = (part: Part): string | null => {
    const source = found.template[part];
    if (source === undefined || !partsOf[channel].includes(part)) return null;
    const parsed = parseTemplate(source);
    if ('faults' in parsed) throw new Error(`the template ${found.name} was stored with a fault`);
    const options = { values: { ...values }, locale: found.locale, timeZone, escape: escapes[part], budget };
    return render(parsed.nodes, options);
  };
  const plain = plainMessage(channel, values);
  return {
    template: found.name,
    subject: rendered('subject') ?? plain.subject,
    title: rendered('title') ?? plain.title,
    text: rendered('text') ?? plain.text,
    html: rendered('html'),
  };
}

/** A message without a template. */
function plainMessage(channel: StepChannel, { actor, description, url, app }: MessageValues): RenderedMessage {
  const oneLine = inOneLine(description)
    .slice(0, 255)
    .replace(/\p{Surrogate}$/u, '');
  const lines = [actor ?? '', description, url ?? ''].filter((line) => line !== '');
  return {
    template: null,
    subject:
      channel === 'email' ? (actor === null || actor === '' ? oneLine : inOneLine(`${actor}: ${oneLine}`)) : null,
    title: channel === 'push' ? inOneLine(actor === null || actor === '' ? app : actor) : null,
    text: channel === 'push' ? description : lines.join('\n'),
    html: null,
  };
}
