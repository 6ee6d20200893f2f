import type { MessageTemplate, RenderedMessage, StepChannel } from '../../contract/category.js';
import type { FieldError } from '../../lib/problem.js';
import { maxSourceBytes, parseTemplate, type TemplateNode } from './parse.js';
import { pathFaults, rootShape, shapeOf } from './paths.js';
import {
  asIs,
  createRendering,
  inHtml,
  inOneLine,
  newBudget,
  type RenderBudget,
  spendBytes,
  TemplateTooLarge,
} from './render.js';

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

/** Which template a message uses. */
interface Target {
  readonly channel: StepChannel;
  readonly locale: string | null;
  /** The zone of dates. */
  readonly timeZone: string;
}

interface FoundTemplate {
  readonly name: string;
  readonly template: MessageTemplate;
  readonly locale: string;
}

function findTemplate(templates: Templates, { channel, locale }: Target): FoundTemplate | undefined {
  const byName = new Map<string, FoundTemplate>(
    Object.entries(templates).flatMap(([name, template]) => {
      const named = readName(name);
      return named === undefined
        ? []
        : [[`${named.channel}.${named.locale}`, { name, template, locale: named.locale }] as const];
    }),
  );
  return candidates(channel, locale).flatMap((name) => byName.get(name) ?? [])[0];
}

/** A category keeps its templates until the categories change, so each version of them is parsed once. */
const parsedParts = new WeakMap<MessageTemplate, Map<Part, readonly TemplateNode[]>>();

function parsedPart({ name, template }: FoundTemplate, part: Part, source: string): readonly TemplateNode[] {
  const parts = parsedParts.get(template) ?? new Map<Part, readonly TemplateNode[]>();
  parsedParts.set(template, parts);
  const known = parts.get(part);
  if (known !== undefined) return known;
  const parsed = parseTemplate(source);
  if ('faults' in parsed) throw new Error(`the template ${name} was stored with a fault`);
  parts.set(part, parsed.nodes);
  return parsed.nodes;
}

/** The rendering of a part of a template; undefined if the template or the channel does not have this part. */
function renderingOf(
  found: FoundTemplate,
  part: Part,
  { channel, timeZone, budget }: Target & { readonly budget: RenderBudget },
): ((values: MessageValues) => string) | undefined {
  const source = found.template[part];
  if (source === undefined || !partsOf[channel].includes(part)) return undefined;
  const options = { locale: found.locale, timeZone, escape: escapes[part], budget };
  const render = createRendering(parsedPart(found, part, source), options);
  return (values) => render({ ...values });
}

/**
 * The message that a channel sends. If there is no template for the user's locale, its language or English, it is the actor, the
 * description and the link.
 * @throws TemplateTooLarge
 */
export function renderMessage(templates: Templates, target: Target, values: MessageValues): RenderedMessage {
  const found = findTemplate(templates, target);
  const plain = plainMessage(target.channel, values);
  if (found === undefined) return plain;
  const budget = newBudget();
  const rendered = (part: Part) => renderingOf(found, part, { ...target, budget })?.(values) ?? null;
  return {
    template: found.name,
    subject: rendered('subject') ?? plain.subject,
    title: rendered('title') ?? plain.title,
    text: rendered('text') ?? plain.text,
    html: rendered('html'),
  };
}

/** The texts of several notifications in one message. */
export interface Texts {
  /** The name of their template; null: they have none. */
  readonly template: string | null;
  /** The text of the next notification; undefined: the message has no room for it. */
  next(values: MessageValues): string | undefined;
}

/** Renders only texts, like `renderMessage`. All of them together have the budget of one message. */
export function createTexts(templates: Templates, target: Target): Texts {
  const found = findTemplate(templates, target);
  const budget = newBudget();
  const render = found && renderingOf(found, 'text', { ...target, budget });
  const plain = (values: MessageValues) => {
    const { text } = plainMessage(target.channel, values);
    spendBytes(budget, text);
    return text;
  };
  return {
    template: found?.name ?? null,
    next(values) {
      const { bytes } = budget;
      try {
        return (render ?? plain)(values);
      } catch (error) {
        if (!(error instanceof TemplateTooLarge)) throw error;
        // The message does not contain its output. Its steps are spent.
        budget.bytes = bytes;
        return undefined;
      }
    },
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
