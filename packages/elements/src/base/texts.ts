/** Texts by key. */
export type Words = Readonly<Record<string, string>>;

/** Languages that are built in, besides English. They are loaded when a page uses them. */
export type Languages<W> = Readonly<Record<string, () => Promise<W>>>;

/** English texts in a page of another language are between these signs: a left-to-right isolate (Unicode) and its end. */
export const isolate = '\u2066';
export const isolateEnd = '\u2069';
/** Texts in another language than English have a member with this key: a function that marks English ones. */
export const markKey = Symbol('mark');

/** Whether a text is an English one, in a page of another language. */
export const isFallback = (text: string) => text.includes(isolate);
export const withoutMarks = (text: string) => text.replace(/[\u2066\u2069]/g, '');

/** Adds the English texts of a view that is loaded later to the texts of the element, which take precedence. */
export function withLater<L extends Words, W extends object>(english: L, words: W): L & W {
  const mark = (words as { readonly [markKey]?: (texts: L) => L })[markKey];
  return { ...(mark?.(english) ?? english), ...words };
}

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
  if (isFallback(text)) return isolate + countText(withoutMarks(text), count, 'en') + isolateEnd;
  const forms = text.split('|');
  const rules = new Intl.PluralRules(language);
  const order = ['zero', 'one', 'two', 'few', 'many', 'other'] as const;
  const categories = order.filter((name) => rules.resolvedOptions().pluralCategories.includes(name));
  const form = forms[Math.min(categories.indexOf(rules.select(count)), forms.length - 1)] ?? text;
  return fill(form, { count: new Intl.NumberFormat(language).format(count) });
}
