import { element, icon } from '../base/dom.js';
import { smallButton } from '../base/small-button.js';
import { bellPath } from './icons.js';
import type { RowTexts } from './texts.js';

/** Why the list shows no notifications. */
export type Without = 'offline' | 'error' | 'empty' | 'signed-out';

/** A circle with an exclamation mark. */
const lostPath = 'M10 2.8a7.2 7.2 0 1 0 0 14.4 7.2 7.2 0 0 0 0-14.4zM10 6.2v4.6M10 13.6v.1';

/** Shown instead of notifications: why there are none, and what the user can do. A page can replace the note of an empty list. */
export function noteWithout(state: Without, words: RowTexts, retry: () => void): HTMLElement {
  const { connection_lost: offline, not_loaded: error, empty, signed_out } = words;
  const text = { offline, error, empty, 'signed-out': signed_out }[state];
  const isLost = state === 'offline' || state === 'error';
  const content =
    state === 'empty'
      ? [
          element('strong', { part: 'name' }, text),
          element('span', { class: 'muted small', part: 'hint' }, words.empty_hint),
        ]
      : [element('span', { class: 'muted', part: 'hint' }, text), isLost && smallButton(words.try_again, retry)];
  const role = state === 'empty' ? null : 'status';
  const note = element('div', { class: 'empty', part: 'empty', role }, icon(isLost ? lostPath : bellPath), ...content);
  return state === 'empty' ? element('slot', { name: 'empty' }, note) : note;
}
