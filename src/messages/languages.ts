/** The languages of the built-in texts. The first one is the fallback. */
export const textLanguages = ['en', 'es'] as const;
export type TextLanguage = (typeof textLanguages)[number];

/** The languages for a locale, the best first (RFC 4647, section 3.4, lookup): `es-MX`, then `es`, then the fallback. */
export function lookUpOrder(locale: string | undefined): string[] {
  const parts = (locale ?? '').toLowerCase().split(/[-_]/);
  const tags = parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
  return [...tags, textLanguages[0]];
}
