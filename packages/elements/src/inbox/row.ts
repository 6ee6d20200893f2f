import type { InboxItem } from '@postern/client';
import { element, replaceContent } from '../base/dom.js';
import { fullTime, timeAgo } from '../base/time.js';
import { webAddress } from '../base/web-address.js';
import { pictureOf } from './picture.js';
import type { RowTexts } from './texts.js';

export interface RowOptions {
  readonly words: RowTexts;
  readonly language: string;
  readonly renderItem: () => ((item: InboxItem) => Node | string) | null;
  readonly hrefOf: (item: InboxItem) => string | null;
  /** The user has chosen the item. Returns false if the page has called `preventDefault()`. */
  readonly choose: (item: InboxItem) => boolean;
}

/** The row of one notification. */
export interface Row {
  readonly node: HTMLElement;
  /** Shows what has changed. @param isNew whether it is shown as unread */
  fill(item: InboxItem, isNew: boolean): void;
}

/** @param linkOf the address of an item that has none from `hrefOf` */
export function createRow(
  { words, language, renderItem, hrefOf, choose }: RowOptions,
  linkOf: (item: InboxItem) => string | null,
): Row {
  const node = element('li', {});
  /** A link for an item that leads somewhere, else a button. */
  let control: HTMLElement = node;
  let item: InboxItem;
  let shownKey = '';
  let shownRender: ReturnType<typeof renderItem> = null;

  function open(event: Event): void {
    // A click with the middle button or a modifier opens another tab, and the page stays.
    const { button, ctrlKey, metaKey, shiftKey } = event as MouseEvent;
    if (button > 1) return;
    const isAllowed = choose(item);
    if (!isAllowed && button === 0 && !ctrlKey && !metaKey && !shiftKey) event.preventDefault();
  }
  function setControl(href: string | null): void {
    const tag = href === null ? 'button' : 'a';
    if (control.localName !== tag) {
      const own = href === null ? { type: 'button', click: () => choose(item) } : { click: open, auxclick: open };
      control = element(tag, { class: 'item', part: 'item-link', 'data-key': item.id, ...own });
      replaceContent(node, control);
    }
    if (href !== null) control.setAttribute('href', href);
  }
  function textsOf({ notification_type: type, actor, description, created_at: createdAt }: InboxItem, ago: string) {
    const time = { part: 'time', class: 'time', datetime: createdAt, title: fullTime(createdAt, language) };
    // A notice about the security of the account is never shortened.
    const isShort = type !== 'security';
    return [
      actor && element('bdi', { part: 'actor', class: 'actor' }, actor),
      element('bdi', { part: 'description', class: isShort ? 'text short' : 'text' }, description),
      element('time', time, ago),
    ];
  }

  return {
    node,
    fill(next, isNew) {
      item = next;
      const ago = timeAgo(item.created_at, language);
      const href = webAddress(hrefOf(item) ?? linkOf(item));
      const key = [href, item.updated_at, item.created_at, item.description, item.actor, isNew, ago].join();
      const render = renderItem();
      if (shownKey === key && shownRender === render) return;
      shownKey = key;
      shownRender = render;
      setControl(href);
      node.setAttribute('part', isNew ? 'item item-unread' : 'item');
      control.classList.toggle('new', isNew);
      replaceContent(
        control,
        pictureOf(item),
        element('span', { class: 'body' }, ...(render ? [render(item)] : textsOf(item, ago))),
        isNew && element('span', { class: 'dot', part: 'dot' }, element('span', { class: 'sr-only' }, words.new)),
      );
    },
  };
}
