import { replaceContent } from '../base/dom.js';
import { withLaterTexts } from './later-texts.js';
import type { StartTexts } from './texts.js';

/** How many human checks each place shows. */
const running = new WeakMap<Element, number>();

/** Says that the client works on a human check, until it ends. Screen readers announce it. */
export function showCheck(place: HTMLElement, isWorking: boolean, words: StartTexts): void {
  const count = (running.get(place) ?? 0) + (isWorking ? 1 : -1);
  running.set(place, count);
  replaceContent(place, count > 0 && withLaterTexts(words).human_check);
}
