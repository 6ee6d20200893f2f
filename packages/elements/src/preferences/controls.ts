import type { PreferenceChanges, Preferences } from '@postern/client';
import { type Child, element } from '../base/dom.js';
import { isFallback, withoutMarks } from '../base/texts.js';
import type { PreferencesTexts } from './texts.js';

/** What the sections of the page share. */
export interface Page {
  readonly words: PreferencesTexts;
  readonly language: string;
  readonly accountUrl: string | null;
  readonly change: (changes: PreferenceChanges) => void;
  /** Calls a function with the preferences, now and after each change, as long as the nodes of the page stay. */
  readonly onChange: (update: (preferences: Preferences) => void) => void;
}

/** A section of the page, with its heading. */
export const section = (
  { words }: Page,
  name: 'channels' | 'categories' | 'quiet_hours' | 'time_zone',
  ...children: Child[]
) =>
  element(
    'section',
    { part: 'section', 'aria-labelledby': name },
    element('h2', { id: name, part: 'heading' }, words[name]),
    ...children,
  );

/** A switch, which shows what `read` returns. @param labels the ids of its label, separated by spaces */
export function switchOf(
  { onChange }: Page,
  key: string,
  labels: string,
  read: (preferences: Preferences) => boolean,
  set: (isOn: boolean) => void,
): HTMLInputElement {
  const box = element('input', {
    type: 'checkbox',
    role: 'switch',
    class: 'switch',
    part: 'switch',
    'data-key': key,
    'aria-labelledby': labels,
  });
  box.addEventListener('change', () => set(box.checked));
  onChange((preferences) => {
    box.checked = read(preferences);
  });
  return box;
}

/** An option can contain only text. So if the text is English in another page, the option itself has the `lang`. */
export const optionOf = (value: string, text: string) =>
  element('option', { value, ...(isFallback(text) && { lang: 'en', dir: 'ltr' }) }, withoutMarks(text));
