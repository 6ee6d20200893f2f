import { element, icon } from '../base/dom.js';
import { bellPath } from './icons.js';
import type { ListTexts } from './texts.js';

/** Shown while the first notifications are read. */
export const skeleton = (label: string) =>
  element(
    'div',
    { class: 'skeleton' },
    element('span', { class: 'sr-only', role: 'status' }, label),
    element('i'),
    element('i'),
    element('i'),
  );

/** Shown if there are no notifications. A page can replace it by the slot `empty`. */
export const emptyNote = (words: ListTexts) =>
  element(
    'slot',
    { name: 'empty' },
    element(
      'div',
      { class: 'empty', part: 'empty' },
      icon(bellPath),
      element('strong', {}, words.empty),
      element('span', { class: 'muted small' }, words.empty_hint),
    ),
  );

/** Shown instead of the list: why there is none, and what the user can do. */
export const stateNote = (text: string, action: HTMLElement | false) =>
  element('div', { class: 'empty', part: 'empty', role: 'status' }, element('span', { class: 'muted' }, text), action);
