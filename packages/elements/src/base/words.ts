import { isolate, isolateEnd, type Languages, markKey, type Words } from './texts.js';

/** English texts, marked if the language is another one. */
export function englishFor<W extends Words>(english: W, language: string): W {
  if (/^en\b/.test(language)) return english;
  return Object.fromEntries(Object.entries(english).map(([key, text]) => [key, isolate + text + isolateEnd])) as W;
}

/** The texts of an app for one language: those of all elements, and those of one element by the end of its tag. */
export type OwnTexts = Readonly<Record<string, object | undefined>>;

/**
 * The texts of a language: your own, else the built-in ones, else English. Texts for a region, such as `es-MX`, replace
 * those of the language, and texts of one element those of all.
 *
 * @param element the end of the tag of the element, such as `sign-in`
 */
export async function wordsOf<W extends Words>(
  language: string,
  english: W,
  languages: Languages<W>,
  ownTexts: Readonly<Record<string, OwnTexts | (() => Promise<OwnTexts>)>> = {},
  element = '',
): Promise<W> {
  const [base = 'en'] = language.split('-');
  // The element must appear even if a file cannot be loaded, such as without a network.
  const load = async (tag: string) => {
    const own = ownTexts[tag];
    const texts = typeof own === 'function' ? await own().catch(() => undefined) : own;
    return { ...texts?.shared, ...texts?.[element] };
  };
  const [builtIn, ofLanguage, ofRegion] = await Promise.all([
    languages[base]?.().catch(() => undefined),
    load(base),
    base === language ? {} : load(language),
  ]);
  const mark = (texts: Words) => englishFor(texts, language);
  return { ...englishFor(english, language), ...builtIn, ...ofLanguage, ...ofRegion, [markKey]: mark };
}
