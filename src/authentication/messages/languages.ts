/** Languages that every text is there in; the first one is the fallback. */
export const textLanguages = ['en', 'es'] as const;
export type TextLanguage = (typeof textLanguages)[number];

/** A locale and what is more general than it, the nearest first (RFC 4647, 3.4): `es-MX` is `es` too. */
export function lookUpOrder(locale: string | undefined): string[] {
  const parts = (locale ?? '').toLowerCase().split(/[-_]/);
  const tags = parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
  return [...tags, textLanguages[0]];
}
