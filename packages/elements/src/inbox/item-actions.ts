import type { ItemsView, NotificationAction, StatefulItem } from '@postern/client';
import { element, icon } from '../base/dom.js';
import { webAddress } from '../base/web-address.js';

export const checkPath = 'M4 10.5l4 4 8-9';

/** What the event `postern-action` has. */
export interface ActionDetail {
  readonly item: StatefulItem;
  readonly action: NotificationAction;
}

/** The actions of a notification as buttons, or the one that the user has chosen. None after it has expired. */
export function actionsOf(item: StatefulItem, items: ItemsView, host: Element): readonly HTMLElement[] {
  const { actions, state, expires_at: end } = item.extra;
  const taken = actions.find(({ key }) => key === state.action?.key);
  if (taken !== undefined) {
    return [element('span', { class: 'done small', part: 'done' }, icon(checkPath), element('bdi', {}, taken.label))];
  }
  if (end !== null && Date.parse(end) <= Date.now()) return [];
  return actions.map((action) => actionButton(action, item, items, host));
}

/** Chooses an action. Its address opens after that, unless the page prevents it. */
function actionButton(action: NotificationAction, item: StatefulItem, items: ItemsView, host: Element): HTMLElement {
  const href = webAddress(action.url ?? null);
  const act = async (event: Event) => {
    const init = { detail: { item, action }, bubbles: true, composed: true, cancelable: true };
    const isAllowed = host.dispatchEvent(new CustomEvent<ActionDetail>('postern-action', init));
    const { ctrlKey, metaKey, shiftKey } = event as MouseEvent;
    const staysHere = href === null || ctrlKey || metaKey || shiftKey;
    if (!staysHere || !isAllowed) event.preventDefault();
    await items.act(item.id, action.key);
    if (!staysHere && isAllowed && items.current.changeError === null) location.assign(href);
  };
  const attributes = { class: 'act', part: 'button', 'data-key': `action ${action.key} ${item.id}`, click: act };
  const label = element('bdi', {}, action.label);
  if (href === null) return element('button', { type: 'button', ...attributes }, label);
  return element('a', { ...attributes, href }, label);
}
