import { element } from '../base/dom.js';
import { smallButton } from '../base/small-button.js';
import type { ItemTexts } from './item-texts.js';
import { snoozeTimes } from './snooze-times.js';

/** A time as a person says it: the weekday within a week, else the date. */
export function timeText(time: Date, language: string): string {
  const isNear = time.getTime() - Date.now() < 7 * 86_400_000;
  const day = isNear ? { weekday: 'short' as const } : { day: 'numeric' as const, month: 'short' as const };
  return new Intl.DateTimeFormat(language, { ...day, hour: 'numeric', minute: '2-digit' }).format(time);
}

/** The times until which a notification can be snoozed. @param close is called by Escape */
export function snoozeChoices(
  words: ItemTexts,
  language: string,
  choose: (time: Date) => Promise<void>,
  close: () => void,
): HTMLElement {
  const buttons = snoozeTimes().map(({ name, time }) => {
    const button = smallButton(words[name], () => choose(time));
    button.append(' ', element('bdi', { class: 'muted', part: 'hint' }, timeText(time, language)));
    return button;
  });
  const keydown = (event: Event) => {
    if ((event as KeyboardEvent).key !== 'Escape') return;
    // The panel stays open.
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  const attributes = { class: 'choices', part: 'choices', role: 'group', 'aria-label': words.snooze };
  return element('div', { ...attributes, keydown }, ...buttons);
}
