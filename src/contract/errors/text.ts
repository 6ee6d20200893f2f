/** The languages of messages. The first is the fallback. */
export const languages = ['en', 'es'] as const;
export type Language = (typeof languages)[number];
export type Text = Readonly<Record<Language, string>>;

/** A text in each language. */
export const text = (en: string, es: string): Text => ({ en, es });
