import { readStored, writeStored } from './storage.js';
import { createStore, type Store } from './store.js';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];
export const languages = ['en', 'es'] as const;
export type Language = (typeof languages)[number];

/** A choice that this browser remembers. */
export interface Preference<T extends string> extends Store<T> {
  readonly choices: readonly T[];
}

function preference<T extends string>(key: string, choices: readonly T[], fallback: T): Preference<T> {
  const stored = readStored('localStorage', key);
  const store = createStore<T>(choices.find((choice) => choice === stored) ?? fallback);
  return {
    choices,
    get: store.get,
    subscribe: store.subscribe,
    set(value) {
      writeStored('localStorage', key, value);
      store.set(value);
    },
  };
}

const browserLanguage = languages.find((language) => navigator.language.toLowerCase().startsWith(language));

export const theme = preference<Theme>('theme', themes, 'system');
export const language = preference<Language>('language', languages, browserLanguage ?? 'en');
/** Whether single letters act as shortcuts (WCAG 2.1.4 wants a way to turn them off). */
export const letterShortcuts = preference<'on' | 'off'>('letters', ['on', 'off'], 'on');

/** Applies the theme to the page, now and after each change. */
export function applyTheme(): void {
  const apply = () => {
    const chosen = theme.get();
    if (chosen === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
  };
  theme.subscribe(apply);
  apply();
}
