/** Texts by key. */
export type Words = Readonly<Record<string, string>>;

/** Languages that are built in, besides English. They are loaded when a page uses them. */
export type Languages<W> = Readonly<Record<string, () => Promise<W>>>;

/** Puts values into the `{name}` of a text. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (hole, name: string) => (Object.hasOwn(values, name) ? `${values[name]}` : hole));
}

/** The language of an element, as BCP 47: that of the nearest `lang`, also outside of shadow roots, else the browser's. */
export function languageOf(element: Element): string {
  for (let at: Element | null = element; at !== null; ) {
    const named: Element | null = at.closest('[lang]');
    const language = named?.getAttribute('lang');
    if (language) return canonical(language);
    const root: Node = at.getRootNode();
    at = root instanceof ShadowRoot ? root.host : null;
  }
  return canonical(navigator.language);
}

function canonical(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

/** The texts of a language: your own, else the built-in ones, else English. A language with its region goes first. */
export async function wordsOf<W extends Words>(
  language: string,
  english: W,
  languages: Languages<W>,
  own: Readonly<Record<string, object>> = {},
): Promise<W> {
  const [base = 'en'] = language.split('-');
  // A file that cannot be loaded, as without a network, must not keep the element from appearing.
  const loaded = await languages[base]?.().catch(() => undefined);
  return { ...english, ...loaded, ...own[base], ...own[language] };
}
