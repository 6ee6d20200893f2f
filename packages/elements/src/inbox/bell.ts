import { element, icon } from '../base/dom.js';
import { countText } from '../base/texts.js';
import { bellPath } from './icons.js';
import type { Panel } from './panel.js';
import type { PanelTexts } from './texts.js';

/** The button that opens the panel, with the number of unread notifications. */
export interface Bell {
  readonly button: HTMLButtonElement;
  /** Moves the open panel to the button. */
  place(): void;
  show(unseen: { readonly count: number; readonly capped: boolean }): void;
}

/** @param onToggle called when the panel opens or closes */
export function createBell(
  { node: panel, place }: Panel,
  words: PanelTexts,
  language: string,
  onToggle: (isOpen: boolean) => void,
): Bell {
  const badge = element('span', { class: 'badge', part: 'badge', 'aria-hidden': 'true', hidden: true });
  const picture = element('slot', { name: 'bell' }, icon(bellPath));
  const attributes = {
    class: 'bell',
    part: 'bell',
    type: 'button',
    'data-key': 'bell',
    'aria-haspopup': 'dialog',
    'aria-expanded': 'false',
  };
  const button = element('button', attributes, picture, badge);
  button.popoverTargetElement = panel;
  const updatePosition = () => place(button);
  const root = () => panel.getRootNode() as ShadowRoot;
  let hadFocus = false;
  panel.addEventListener('beforetoggle', () => {
    hadFocus = panel.contains(root().activeElement);
  });
  panel.addEventListener('toggle', (event) => {
    const isOpen = (event as ToggleEvent).newState === 'open';
    button.setAttribute('aria-expanded', `${isOpen}`);
    onToggle(isOpen);
    for (const type of ['resize', 'scroll']) {
      if (isOpen) addEventListener(type, updatePosition, { capture: true, passive: true });
      else removeEventListener(type, updatePosition, { capture: true });
    }
    const { activeElement } = root();
    if (isOpen) {
      updatePosition();
      if (!panel.contains(activeElement)) panel.focus();
    } else if (hadFocus && (activeElement === null || panel.contains(activeElement))) button.focus();
  });
  const show: Bell['show'] = ({ count, capped }) => {
    badge.hidden = count === 0;
    badge.textContent = count > 99 ? '99+' : `${count}`;
    const text = countText(capped ? words.unread_more : words.unread, count, language);
    button.setAttribute('aria-label', count === 0 ? words.inbox : `${words.inbox}, ${text}`);
  };
  return { button, show, place: updatePosition };
}
