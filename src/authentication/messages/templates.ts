import { type TextLanguage, textLanguages, texts } from './texts.js';

/** A message's text, ready to be sent. */
export interface RenderedText {
  /** Of a mail; one line. */
  readonly subject: string;
  readonly text: string;
}

/** The texts of messages, by kind and language. */
export interface Templates {
  /**
   * @param kind `<channel>.<what>`, such as `sms.code`
   * @param locale BCP 47; of a language that there is no text in, or unknown: English
   * @throws Error for a kind that there is no text of
   */
  render(kind: string, locale: string | undefined, params: Readonly<Record<string, string>>): RenderedText;
}

/** @param app the name that texts call the service by */
export function createTemplates({ app }: { readonly app: string }): Templates {
  const byKind = new Map<string, ReadonlyMap<string, string>>(
    Object.entries(texts).map(([kind, byLanguage]) => [kind, new Map(Object.entries(byLanguage))]),
  );
  return {
    render(kind, locale, params) {
      const byLanguage = byKind.get(kind);
      const template = byLanguage?.get(languageOf(locale)) ?? byLanguage?.get(fallback);
      if (template === undefined) throw new Error(`there is no text for messages of the kind ${kind}`);
      const values = { ...params, app };
      const { subject, text } = splitSubject(template);
      return { subject: oneLine(fill(subject, values)), text: fill(text, values) };
    },
  };
}

const fallback: TextLanguage = textLanguages[0];

/** The language of a locale: `es-MX` is `es`. */
function languageOf(locale: string | undefined): string {
  return locale?.split(/[-_]/, 1)[0]?.toLowerCase() ?? fallback;
}

/** A mail's template begins with the line `Subject: …`. */
function splitSubject(template: string): { readonly subject: string; readonly text: string } {
  const [, subject, text] = /^Subject: *(.+)\n *\n([\s\S]*)$/.exec(template) ?? [];
  return subject === undefined || text === undefined ? { subject: '', text: template } : { subject, text };
}

/** In one pass: what a value holds is never taken for a placeholder. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}

/** A subject is one header of a mail, whatever was filled in. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
