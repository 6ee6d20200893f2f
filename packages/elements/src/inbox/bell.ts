import type { InboxSnapshot } from '@postern/client';
import { element, icon } from '../base/dom.js';
import { fill } from '../base/texts.js';
import { bellPath } from './icons.js';
import { positionPanel } from './panel-position.js';
import type { ListTexts } from './texts.js';

/** The button that opens the panel, with the number of unread notifications. */
export interface Bell {
  readonly button: HTMLButtonElement;
  show(snapshot: InboxSnapshot): void;
}

/** @param onToggle called when the panel opens or closes */
export function createBell(panel: HTMLElement, words: ListTexts, onToggle: (isOpen: boolean) => void): Bell {
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
  const updatePosition = () => positionPanel(panel, button);
  panel.addEventListener('toggle', (event) => {
    const isOpen = (event as ToggleEvent).newState === 'open';
    button.setAttribute('aria-expanded', `${isOpen}`);
    onToggle(isOpen);
    for (const type of ['resize', 'scroll']) {
      if (isOpen) addEventListener(type, updatePosition, { capture: true, passive: true });
      else removeEventListener(type, updatePosition, { capture: true });
    }
    if (!isOpen) return;
    updatePosition();
    if (!panel.contains((panel.getRootNode() as ShadowRoot).activeElement)) panel.focus();
  });
  const show = ({ unread }: InboxSnapshot) => {
    const { unread_count: count, unread_count_capped: isCapped } = unread;
    badge.hidden = count === 0;
    badge.textContent = count > 99 ? '99+' : `${count}`;
    const countText = fill(isCapped ? words.unread_more : words.unread, { count });
    button.setAttribute('aria-label', count === 0 ? words.inbox : `${words.inbox}, ${countText}`);
  };
  return { button, show };
}
