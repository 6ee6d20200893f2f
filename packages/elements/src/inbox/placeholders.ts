import { element, icon } from '../base/dom.js';
import { bellPath, lostPath } from './icons.js';
import type { ListTexts } from './texts.js';

/** Shown while the first notifications are read. */
export const skeleton = (label: string) =>
  element(
    'div',
    { class: 'waiting' },
    element('span', { class: 'sr-only', role: 'status' }, label),
    ...[1, 2, 3, 4, 5, 6].map(() => element('i', { class: 'skeleton', part: 'skeleton' })),
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
      element('strong', { part: 'name' }, words.empty),
      element('span', { class: 'muted small', part: 'hint' }, words.empty_hint),
    ),
  );

/** Shown instead of the list: why there is none, and what the user can do. */
export const stateNote = (text: string, action: HTMLElement | false) =>
  element(
    'div',
    { class: 'empty', part: 'empty', role: 'status' },
    icon(action ? lostPath : bellPath),
    element('span', { class: 'muted', part: 'hint' }, text),
    action,
  );
