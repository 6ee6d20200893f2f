/** Texts by key. */
export type Words = Readonly<Record<string, string>>;

/** Languages that are built in, besides English. They are loaded when a page uses them. */
export type Languages<W> = Readonly<Record<string, () => Promise<W>>>;

/** Puts values into the `{name}` of a text. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? `${values[name]}` : placeholder,
  );
}

/**
 * A text with a number. A text may have several forms, separated by `|`, in the order of the categories of the language's plurals (CLDR):
 * zero, one, two, few, many, other. One form serves all numbers.
 */
export function countText(text: string, count: number, language: string): string {
  const forms = text.split('|');
  const rules = new Intl.PluralRules(language);
  const order = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;
  const categories = order.filter((name) => rules.resolvedOptions().pluralCategories.includes(name));
  const form = forms[Math.min(categories.indexOf(rules.select(count)), forms.length - 1)] ?? text;
  return fill(form, { count: new Intl.NumberFormat(language).format(count) });
}

/** The language of an element (BCP 47): the nearest `lang`, also outside of its shadow root, or else the browser's language. */
export function languageOf(element: Element): string {
  for (let candidate: Element | null = element; candidate !== null; ) {
    const nearest: Element | null = candidate.closest('[lang]');
    const language = nearest?.getAttribute('lang');
    if (language) return canonicalTag(language);
    const root: Node = candidate.getRootNode();
    candidate = root instanceof ShadowRoot ? root.host : null;
  }
  return canonicalTag(navigator.language);
}

function canonicalTag(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

/**
 * The texts of a language: your own, else the built-in ones, else English. Texts for a region, such as `es-MX`, replace
 * those of the language.
 */
export async function wordsOf<W extends Words>(
  language: string,
  english: W,
  languages: Languages<W>,
  ownTexts: Readonly<Record<string, object>> = {},
): Promise<W> {
  const [base = 'en'] = language.split('-');
  // The element must appear even if the file cannot be loaded, such as without a network.
  const builtIn = await languages[base]?.().catch(() => undefined);
  return { ...english, ...builtIn, ...ownTexts[base], ...ownTexts[language] };
}
