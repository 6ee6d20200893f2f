import type { ItemsView, NotificationAction, StatefulItem } from '@postern/client';
import { element, icon, replaceContent } from '../base/dom.js';
import { smallButton } from '../base/small-button.js';
import { fill, isFallback, isolate, isolateEnd, withoutMarks } from '../base/texts.js';
import { webAddress } from '../base/web-address.js';
import { bellPath } from './icons.js';
import type { ItemTexts } from './item-texts.js';
import { snoozeTimes } from './snooze-times.js';

const checkPath = 'M4 10.5l4 4 8-9';
const unreadPath = 'M10 5.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z';
const archivePath = 'M3 4.5h14V8H3zM4.5 8v7.5h11V8M8 11h4';
const inboxPath = 'M3 12.5h4l1 2h4l1-2h4V16H3zM10 3.5v6M7.3 7l2.7 2.7L12.7 7';
const clockPath = 'M10 3.2a6.8 6.8 0 1 0 0 13.6 6.8 6.8 0 0 0 0-13.6zM10 6.2V10l2.6 1.8';

/** What the event `postern-action` has. */
export interface ActionDetail {
  readonly item: StatefulItem;
  readonly action: NotificationAction;
}

interface Tools {
  readonly node: HTMLElement;
  update(item: StatefulItem): void;
}

export interface ItemToolsOptions {
  readonly items: ItemsView;
  readonly words: ItemTexts;
  readonly language: string;
  readonly features: readonly string[];
  readonly root: ShadowRoot;
}

/** The buttons of each row: the actions of the notification, and what the user can do with any. */
export function createItemTools(options: ItemToolsOptions) {
  const all = new Map<string, Tools>();
  return {
    of(item: StatefulItem): HTMLElement {
      const tools = all.get(item.id) ?? createTools(options);
      all.set(item.id, tools);
      tools.update(item);
      return tools.node;
    },
    keep(ids: ReadonlySet<string>): void {
      for (const id of all.keys()) if (!ids.has(id)) all.delete(id);
    },
  };
}

function createTools({ items, words, language, features, root }: ItemToolsOptions): Tools {
  const node = element('div', { class: 'tools', part: 'tools' });
  let item: StatefulItem;
  let isChoosing = false;
  let shown = '';

  const timeText = (time: Date) => {
    const isNear = time.getTime() - Date.now() < 7 * 86_400_000;
    const day = isNear ? { weekday: 'short' as const } : { day: 'numeric' as const, month: 'short' as const };
    return new Intl.DateTimeFormat(language, { ...day, hour: 'numeric', minute: '2-digit' }).format(time);
  };
  const withTime = (text: string, time: string) =>
    isFallback(text) ? `${isolate}${fill(withoutMarks(text), { time })}${isolateEnd}` : fill(text, { time });

  /** An icon whose name says which notification it is for. */
  function tool(name: keyof ItemTexts, path: string, click: () => unknown, attributes: object = {}): HTMLElement {
    const label = `${words[name]}: ${[item.actor, item.description].filter(Boolean).join(' ')}`;
    const common = { class: 'tool', part: 'button', type: 'button', 'aria-label': label, title: words[name] };
    return element('button', { ...common, 'data-key': `${name} ${item.id}`, ...attributes, click }, icon(path));
  }

  /** Chooses an action. Its address opens after that, unless the page prevents it. */
  function actionButton(action: NotificationAction): HTMLElement {
    const href = webAddress(action.url ?? null);
    const act = async (event: Event) => {
      const init = { detail: { item, action }, bubbles: true, composed: true, cancelable: true };
      const isAllowed = root.host.dispatchEvent(new CustomEvent('postern-action', init));
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
  function actions(): readonly HTMLElement[] {
    const { actions: offered, state, expires_at: end } = item.extra;
    const taken = offered.find(({ key }) => key === state.action?.key);
    if (taken !== undefined) {
      return [element('span', { class: 'done small', part: 'done' }, icon(checkPath), element('bdi', {}, taken.label))];
    }
    return end !== null && Date.parse(end) <= Date.now() ? [] : offered.map(actionButton);
  }
  const setChoosing = (next: boolean) => {
    isChoosing = next;
    draw();
    const target = next ? '.choices button' : '.snooze';
    node.querySelector<HTMLElement>(target)?.focus();
  };
  function choices(): HTMLElement {
    const attributes = { class: 'choices', part: 'choices', role: 'group', 'aria-label': words.snooze };
    const buttons = snoozeTimes().map(({ name, time }) => {
      const snooze = () => {
        isChoosing = false;
        return items.snooze([item.id], time);
      };
      const button = smallButton(words[name], snooze);
      button.append(' ', element('bdi', { class: 'muted', part: 'hint' }, timeText(time)));
      return button;
    });
    const close = (event: Event) => {
      if ((event as KeyboardEvent).key !== 'Escape') return;
      // The panel stays open.
      event.preventDefault();
      event.stopPropagation();
      setChoosing(false);
    };
    return element('div', { ...attributes, keydown: close }, ...buttons);
  }

  function draw(): void {
    const { id, isUnread, extra } = item;
    const { archived, snoozed_until: until } = extra.state;
    const isSnoozed = until !== null && Date.parse(until) > Date.now();
    const state = [
      isUnread,
      archived,
      isSnoozed && until,
      isChoosing,
      extra.actions,
      extra.state.action,
      extra.expires_at,
    ];
    const key = JSON.stringify([...state, item.description, item.actor]);
    if (key === shown) return;
    shown = key;
    const focused = node.contains(root.activeElement) ? root.activeElement?.getAttribute('data-key') : undefined;
    const read = isUnread
      ? tool('mark_read', checkPath, () => items.markRead([id]))
      : tool('mark_unread', unreadPath, () => items.markUnread([id]));
    const archive = archived
      ? tool('unarchive', inboxPath, () => items.unarchive([id]))
      : tool('archive', archivePath, () => items.archive([id]));
    const snooze = isSnoozed
      ? tool('end_snooze', bellPath, () => items.snooze([id], null), { class: 'tool snooze' })
      : tool('snooze', clockPath, () => setChoosing(!isChoosing), {
          class: 'tool snooze',
          'aria-expanded': `${isChoosing}`,
        });
    const shownTools = [
      read,
      (features.includes('archive') || archived) && archive,
      (features.includes('snooze') || isSnoozed) && !archived && snooze,
    ];
    const offered = actions();
    node.classList.toggle('bare', offered.length === 0 && !isSnoozed);
    const untilText = isSnoozed && withTime(words.snoozed_until, timeText(new Date(until)));
    replaceContent(
      node,
      untilText && element('span', { class: 'muted small', part: 'hint' }, untilText),
      ...offered,
      element('span', { class: 'icons' }, ...shownTools),
      isChoosing && !isSnoozed && choices(),
    );
    if (!focused) return;
    // The button that took the place of the one with the focus.
    const [name = ''] = focused.split(' ');
    const places: Readonly<Record<string, HTMLElement>> = {
      mark_read: read,
      mark_unread: read,
      snooze,
      end_snooze: snooze,
    };
    (places[name] ?? archive).focus();
  }
  return {
    node,
    update(next) {
      item = next;
      draw();
    },
  };
}
