import type { InboxItem } from '@postern/client';
import { h, icon, put } from '../base/dom.js';
import { fullTime, timeAgo } from '../base/time.js';
import { bellPath } from './icons.js';
import type { InboxTexts } from './texts.js';

export interface ListOptions {
  readonly words: InboxTexts;
  readonly language: string;
  readonly renderItem: ((item: InboxItem) => Node | string) | null;
  readonly choose: (item: InboxItem) => void;
}

/** The rows of the list. They stay the same nodes while their notification is listed, so the focus stays, too. */
export interface Rows {
  readonly list: HTMLElement;
  /** @param newAfter later notifications are marked as new */
  show(items: readonly InboxItem[], newAfter: number): void;
}

interface Row {
  readonly line: HTMLElement;
  readonly button: HTMLElement;
  item: InboxItem;
  key: string;
}

export function createRows({ words, language, renderItem, choose }: ListOptions): Rows {
  const rows = new Map<string, Row>();
  const list = h('ul', { part: 'list', keydown: (event) => move(event as KeyboardEvent) });

  function makeRow(item: InboxItem): Row {
    const button = h('button', { class: 'item', type: 'button', click: () => choose(row.item) });
    const row: Row = { line: h('li', {}, button), button, item, key: '' };
    return row;
  }

  function fillRow(row: Row, item: InboxItem, isNew: boolean): void {
    const ago = timeAgo(item.created_at, language);
    const key = [item.updated_at, item.created_at, item.description, item.actor, isNew, ago].join();
    row.item = item;
    if (row.key === key) return;
    row.key = key;
    row.line.setAttribute('part', isNew ? 'item item-unread' : 'item');
    row.button.classList.toggle('new', isNew);
    const time = { part: 'time', class: 'time', datetime: item.created_at, title: fullTime(item.created_at, language) };
    const text = h('bdi', { part: 'description', class: 'text' }, item.description);
    const when = h('time', time, ago);
    const actor = item.actor && h('bdi', { part: 'actor', class: 'actor' }, item.actor);
    const body = renderItem ? [renderItem(item)] : [h('span', { class: 'top' }, actor || text, when), actor && text];
    put(
      row.button,
      face(item),
      h('span', { class: 'body' }, ...body),
      isNew && h('span', { class: 'dot' }, h('span', { class: 'read' }, words.new)),
    );
  }

  function show(items: readonly InboxItem[], newAfter: number): void {
    const focused = (list.getRootNode() as ShadowRoot).activeElement;
    const held = buttons().indexOf(focused as HTMLElement);
    const kept = new Set(items.map(({ id }) => id));
    for (const [id, { line }] of rows) {
      if (kept.has(id)) continue;
      line.remove();
      rows.delete(id);
    }
    let next = list.firstElementChild;
    for (const item of items) {
      const row = rows.get(item.id) ?? makeRow(item);
      rows.set(item.id, row);
      fillRow(row, item, item.sequence > newAfter);
      if (row.line === next) next = next.nextElementSibling;
      else list.insertBefore(row.line, next);
    }
    // The notification with the focus was deleted: the one that took its place gets it.
    if (focused && held >= 0 && !focused.isConnected) buttons()[Math.min(held, rows.size - 1)]?.focus();
  }

  const buttons = () => [...list.querySelectorAll<HTMLElement>('.item')];
  function move(event: KeyboardEvent): void {
    const all = buttons();
    const at = all.indexOf(event.target as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    all[Math.max(0, Math.min(to, all.length - 1))]?.focus();
  }

  return { list, show };
}

/** The picture of a notification, else the first letter of who caused it. */
function face({ image, actor }: InboxItem): HTMLElement {
  const [letter] = actor?.trim() ?? '';
  const frame = h('span', { class: 'face', 'aria-hidden': 'true' });
  const instead = () => put(frame, letter ? letter.toLocaleUpperCase() : icon(bellPath));
  if (image === null || !isWeb(image.thumbnail_url)) {
    instead();
    return frame;
  }
  const loading = { loading: 'lazy', decoding: 'async', referrerpolicy: 'no-referrer' };
  put(frame, h('img', { part: 'image', src: image.thumbnail_url, alt: '', ...loading, error: instead }));
  return frame;
}

const isWeb = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

/** Shown while the first notifications are read. */
export const skeleton = (label: string) =>
  h('div', { class: 'bones' }, h('span', { class: 'read', role: 'status' }, label), h('i'), h('i'), h('i'));

/** Shown if there are no notifications. A page can put its own into the slot. */
export const emptiness = (words: InboxTexts) =>
  h(
    'slot',
    { name: 'empty' },
    h(
      'div',
      { class: 'empty', part: 'empty' },
      icon(bellPath),
      h('strong', {}, words.empty),
      h('span', { class: 'muted small' }, words.empty_hint),
    ),
  );
