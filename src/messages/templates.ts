import { codeTexts } from './code-texts.js';
import { type NoticeKind, noticeKinds, textChannels } from './kinds.js';
import { lookUpOrder, textLanguages } from './languages.js';
import { type MailBrand, mailHtml, mailParts } from './mail-html.js';
import { noticeText, operatorTexts, unknown } from './notice-texts.js';

/** The text of a message, ready to be sent. */
export interface RenderedText {
  /** The subject of a mail, in one line. Empty for other channels. */
  readonly subject: string;
  readonly text: string;
  /** The same text for mail programs. Empty for other channels. */
  readonly html: string;
}

/** Renders messages. */
export interface Templates {
  /** Whether this release knows the kind. */
  has(kind: string): boolean;
  /**
   * @param kind such as `sms.code`
   * @param locale BCP 47. English is used if it is undefined or has no text.
   * @param values the values of placeholders. The text shows an empty value as unknown.
   * @throws Error for an unknown kind
   */
  render(kind: string, locale: string | undefined, values: Readonly<Record<string, string>>): RenderedText;
}

/** Templates by kind, and then by language in lower case. */
export type TemplateTexts = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * The built-in templates.
 * @public scripts/generate.mjs writes docs/templates.md from it.
 */
export function builtInTexts(): TemplateTexts {
  const kinds = Object.keys(noticeKinds) as NoticeKind[];
  const notices = textChannels.flatMap((channel) =>
    kinds.map((kind) => {
      const inLanguages = textLanguages.map((language) => [language, noticeText(channel, kind, language)] as const);
      return [`${channel}.${kind}`, new Map<string, string>(inLanguages)] as const;
    }),
  );
  const others = { ...codeTexts, ...operatorTexts };
  const fixed = Object.entries(others).map(([kind, text]) => [kind, new Map(Object.entries(text))] as const);
  // A kind that is in both tables is sent with a code, so it has the template of the code.
  return new Map([...fixed, ...notices.filter(([kind]) => !Object.hasOwn(codeTexts, kind))]);
}

/**
 * @param options.brand the name of the service in texts, and how mails show it
 * @param options.own the operator's templates, which take precedence over the built-in ones
 */
export function createTemplates({ brand, own }: { readonly brand: MailBrand; readonly own: TemplateTexts }): Templates {
  const builtIn = builtInTexts();
  return {
    has: (kind) => own.has(kind) || builtIn.has(kind),
    render(kind, locale, values) {
      for (const language of lookUpOrder(locale)) {
        const template = own.get(kind)?.get(language) ?? builtIn.get(kind)?.get(language);
        if (template === undefined) continue;
        const textLanguage = textLanguages.find((each) => each === language);
        const unknownText = textLanguage === undefined ? '–' : unknown[textLanguage];
        const all = { device: '', address: '', ...values, app: brand.name };
        return fillTemplate(brand, { kind, template, language }, all, unknownText);
      }
      throw new Error(`there is no template for messages of the kind ${kind}`);
    },
  };
}

function fillTemplate(
  brand: MailBrand,
  { kind, template, language }: { readonly kind: string; readonly template: string; readonly language: string },
  values: Readonly<Record<string, string>>,
  unknownText: string,
): RenderedText {
  const fill = (text: string) =>
    // All placeholders are replaced in one pass, so that braces in a value are not replaced.
    text.replaceAll(placeholder, (whole, name: string) =>
      Object.hasOwn(values, name) ? values[name] || unknownText : whole,
    );
  const { subject: subjectTemplate, text } = splitSubject(kind, template) ?? { subject: '', text: template };
  const subject = oneLine(fill(subjectTemplate));
  const html = kind.startsWith('email.')
    ? mailHtml(brand, { subject, parts: mailParts(text), language, fill: (part) => fill(part) })
    : '';
  return { subject, text: fill(text), html };
}

/** Matches a placeholder: a name in braces. */
export const placeholder = /\{(\w+)\}/g;

/**
 * Separates the subject of a mail's template, which starts with the line `Subject: …` and an empty line.
 * @returns undefined when a mail's template has no subject
 */
export function splitSubject(kind: string, template: string): { subject: string; text: string } | undefined {
  if (!kind.startsWith('email.')) return { subject: '', text: template };
  const [, subject, text] = /^Subject:[ \t]*(\S.*)\n[ \t]*\n([\s\S]*\S[\s\S]*)$/.exec(template) ?? [];
  return subject === undefined || text === undefined ? undefined : { subject, text };
}

/** A subject is one header of a mail, so values must not break its line. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
