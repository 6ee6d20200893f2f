import type { InboxItem } from '@postern/client';
import { element, icon, replaceContent } from '../base/dom.js';
import { fullTime, timeAgo } from '../base/time.js';
import { bellPath } from './icons.js';
import type { ListTexts } from './texts.js';

/** The style of the rows, which is loaded with them. */
export const style = `
li + li > .item { border-top: 1px solid var(--_line); }
.item { display: grid; grid-template-columns: 40px 1fr 8px; gap: 12px; width: 100%; padding: 12px var(--_space); }
.item:hover { background: var(--_surface); }
.item:focus-visible { outline-offset: -3px; border-radius: var(--_radius); }
.thumbnail { display: grid; place-items: center; width: 40px; height: 40px; border-radius: var(--_radius); overflow: hidden;
  background: var(--_surface); color: var(--_muted); font-weight: 600; }
.item:hover .thumbnail { background: var(--_line); }
.thumbnail img { display: block; width: 100%; height: 100%; object-fit: cover; }
.body { display: grid; gap: 2px; min-width: 0; align-content: start; }
.top { display: flex; gap: 8px; justify-content: space-between; align-items: baseline; }
.actor { font-weight: 620; }
.time { flex: none; color: var(--_muted); font-size: 0.8em; font-variant-numeric: tabular-nums; }
.text { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; color: var(--_muted); }
.item.new .text { color: var(--_ink); }
.dot { width: 8px; height: 8px; margin-block-start: 6px; border-radius: 50%; background: var(--_accent); }
@media (forced-colors: active) { .dot { background: Highlight; } }
`;

export interface ListOptions {
  readonly words: ListTexts;
  readonly language: string;
  readonly renderItem: () => ((item: InboxItem) => Node | string) | null;
  readonly choose: (item: InboxItem) => void;
}

/** The rows of the list. A notification keeps its node, so it also keeps the focus. */
export interface Rows {
  readonly list: HTMLElement;
  /** @param newAfter later notifications are marked as new */
  show(items: readonly InboxItem[], newAfter: number): void;
}

interface Row {
  readonly node: HTMLElement;
  readonly button: HTMLElement;
  item: InboxItem;
  key: string;
  render: ((item: InboxItem) => Node | string) | null;
}

export function createRows({ words, language, renderItem, choose }: ListOptions): Rows {
  const rows = new Map<string, Row>();
  const list = element('ul', { part: 'list', keydown: (event) => moveFocus(event as KeyboardEvent) });

  function makeRow(item: InboxItem): Row {
    const button = element('button', {
      class: 'item',
      type: 'button',
      'data-key': item.id,
      click: () => choose(row.item),
    });
    const row: Row = { node: element('li', {}, button), button, item, key: '', render: null };
    return row;
  }

  function fillRow(row: Row, item: InboxItem, isNew: boolean): void {
    const ago = timeAgo(item.created_at, language);
    const key = [item.updated_at, item.created_at, item.description, item.actor, isNew, ago].join();
    const render = renderItem();
    row.item = item;
    if (row.key === key && row.render === render) return;
    row.key = key;
    row.render = render;
    row.node.setAttribute('part', isNew ? 'item item-unread' : 'item');
    row.button.classList.toggle('new', isNew);
    const time = { part: 'time', class: 'time', datetime: item.created_at, title: fullTime(item.created_at, language) };
    const text = element('bdi', { part: 'description', class: 'text' }, item.description);
    const timeElement = element('time', time, ago);
    const actor = item.actor && element('bdi', { part: 'actor', class: 'actor' }, item.actor);
    const body = render
      ? [render(item)]
      : [element('span', { class: 'top' }, actor || text, timeElement), actor && text];
    replaceContent(
      row.button,
      pictureOf(item),
      element('span', { class: 'body' }, ...body),
      isNew && element('span', { class: 'dot' }, element('span', { class: 'sr-only' }, words.new)),
    );
  }

  function show(items: readonly InboxItem[], newAfter: number): void {
    const focused = (list.getRootNode() as ShadowRoot).activeElement;
    const focusedIndex = buttons().indexOf(focused as HTMLElement);
    const ids = new Set(items.map(({ id }) => id));
    for (const [id, { node }] of rows) {
      if (ids.has(id)) continue;
      node.remove();
      rows.delete(id);
    }
    let next = list.firstElementChild;
    for (const item of items) {
      const row = rows.get(item.id) ?? makeRow(item);
      rows.set(item.id, row);
      fillRow(row, item, item.sequence > newAfter);
      if (row.node === next) next = next.nextElementSibling;
      else list.insertBefore(row.node, next);
    }
    // The notification with the focus was deleted: focus the one that is now in its position.
    if (focused && focusedIndex >= 0 && !focused.isConnected) buttons()[Math.min(focusedIndex, rows.size - 1)]?.focus();
  }

  const buttons = () => [...list.querySelectorAll<HTMLElement>('.item')];
  function moveFocus(event: KeyboardEvent): void {
    const all = buttons();
    const index = all.indexOf(event.target as HTMLElement);
    const target = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: all.length - 1 }[event.key];
    if (target === undefined || index < 0) return;
    event.preventDefault();
    all[Math.max(0, Math.min(target, all.length - 1))]?.focus();
  }

  return { list, show };
}

/** The image of a notification, or the first letter of its actor, or a bell. */
function pictureOf({ image, actor }: InboxItem): HTMLElement {
  const [letter] = actor?.trim() ?? '';
  const frame = element('span', { class: 'thumbnail', 'aria-hidden': 'true' });
  const showFallback = () => replaceContent(frame, letter ? letter.toLocaleUpperCase() : icon(bellPath));
  if (image === null || !isHttpUrl(image.thumbnail_url)) {
    showFallback();
    return frame;
  }
  const loading = { loading: 'lazy', decoding: 'async', referrerpolicy: 'no-referrer' };
  replaceContent(
    frame,
    element('img', { part: 'image', src: image.thumbnail_url, alt: '', ...loading, error: showFallback }),
  );
  return frame;
}

const isHttpUrl = (url: string) => /^https?:\/\//.test(url);
