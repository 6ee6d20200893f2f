/**
 * Preferences in `localStorage`, drafts in `sessionStorage`. A browser may refuse both, for example in a private window:
 * then they last as long as the page.
 */
type Area = 'localStorage' | 'sessionStorage';

export function readStored(area: Area, key: string): string | undefined {
  try {
    return window[area].getItem(`postern.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** `undefined` removes the value. */
export function writeStored(area: Area, key: string, value: string | undefined): void {
  try {
    if (value === undefined) window[area].removeItem(`postern.${key}`);
    else window[area].setItem(`postern.${key}`, value);
  } catch {
    // The value is not stored. The page works without it.
  }
}

/** Removes all values of a kind, such as the drafts of an operator who signs out. */
export function removeStored(area: Area, prefix: string): void {
  try {
    const keys = Object.keys(window[area]).filter((key) => key.startsWith(`postern.${prefix}`));
    for (const key of keys) window[area].removeItem(key);
  } catch {
    // Nothing was stored.
  }
}
