import { codeTexts } from './code-texts.js';
import { type NoticeKind, noticeKinds, textChannels } from './kinds.js';
import { lookUpOrder, textLanguages } from './languages.js';
import { noticeText, unknown } from './notice-texts.js';

/** A message's text, ready to be sent. */
export interface RenderedText {
  /** Of a mail, one line; else empty. */
  readonly subject: string;
  readonly text: string;
}

/** The texts of messages, by kind and language. */
export interface Templates {
  /**
   * @param kind `<channel>.<what>`, such as `sms.code`
   * @param locale BCP 47; of a language that there is no text in, or unknown: English
   * @param values of placeholders; one that is not known is said to be unknown
   * @throws Error for a kind that there is no text of
   */
  render(kind: string, locale: string | undefined, values: Readonly<Record<string, string>>): RenderedText;
}

/** Texts by kind and then by language, in lower case. */
export type Texts = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * The texts that Postern brings.
 * @public scripts/generate.mjs writes docs/templates.md from it.
 */
export function builtInTexts(): Texts {
  const kinds = Object.keys(noticeKinds) as NoticeKind[];
  const notices = textChannels.flatMap((channel) =>
    kinds.map((kind) => {
      const inLanguages = textLanguages.map((language) => [language, noticeText(channel, kind, language)] as const);
      return [`${channel}.${kind}`, new Map<string, string>(inLanguages)] as const;
    }),
  );
  const codes = Object.entries(codeTexts).map(([kind, text]) => [kind, new Map(Object.entries(text))] as const);
  // A notice whose message holds a code has the code's text there.
  return new Map([...codes, ...notices.filter(([kind]) => !Object.hasOwn(codeTexts, kind))]);
}

/**
 * @param app the name that texts call the service by
 * @param own the operator's texts, which go before the built-in ones
 */
export function createTemplates({ app, own }: { readonly app: string; readonly own: Texts }): Templates {
  const builtIn = builtInTexts();
  return {
    render(kind, locale, values) {
      for (const language of lookUpOrder(locale)) {
        const template = own.get(kind)?.get(language) ?? builtIn.get(kind)?.get(language);
        if (template === undefined) continue;
        const nobodyKnows = textLanguages.find((known) => known === language);
        return fillTemplate(kind, template, {
          ...{ device: '', address: '', ...values, app },
          unknown: nobodyKnows === undefined ? '–' : unknown[nobodyKnows],
        });
      }
      throw new Error(`there is no text for messages of the kind ${kind}`);
    },
  };
}

function fillTemplate(
  kind: string,
  template: string,
  { unknown: nobodyKnows, ...values }: Readonly<Record<string, string>>,
): RenderedText {
  const fill = (text: string) =>
    // In one pass: what a value holds is never taken for a placeholder.
    text.replaceAll(placeholder, (whole, name: string) =>
      Object.hasOwn(values, name) ? values[name] || (nobodyKnows ?? '') : whole,
    );
  const { subject, text } = splitSubject(kind, template) ?? { subject: '', text: template };
  return { subject: oneLine(fill(subject)), text: fill(text) };
}

/** A name in braces. */
export const placeholder = /\{(\w+)\}/g;

/** A mail's template begins with the line `Subject: …`, and an empty one. Undefined: it does not, and should. */
export function splitSubject(kind: string, template: string): RenderedText | undefined {
  if (!kind.startsWith('email.')) return { subject: '', text: template };
  const [, subject, text] = /^Subject:[ \t]*(\S.*)\n[ \t]*\n([\s\S]*\S[\s\S]*)$/.exec(template) ?? [];
  return subject === undefined || text === undefined ? undefined : { subject, text };
}

/** A subject is one header of a mail, whatever was filled in. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
