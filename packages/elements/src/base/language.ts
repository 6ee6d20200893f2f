/** The language of an element (BCP 47): the nearest `lang`, also outside of its shadow root, otherwise the browser's language. */
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
