import type { InboxItem, InboxSnapshot, InboxView } from '@postern/client';
import { element, icon, linkButton, replaceContent } from '../base/dom.js';
import { actStyle } from '../base/small-button.js';
import { withLater } from '../base/texts.js';
import { dayName, fullTime, timeAgo } from '../base/time.js';
import { wStrong, wTitle } from '../base/tokens.js';
import { webAddress } from '../base/web-address.js';
import { bellPath } from './icons.js';
import { english } from './list-texts.js';
import { noteWithout, type Without } from './placeholders.js';
import type { PanelParts, RowExtras } from './row-extras.js';
import type { Seen } from './seen.js';
import type { PanelTexts, RowTexts } from './texts.js';

export { positionPanel } from './panel-position.js';
export { createPushView } from './push-view.js';

/** The texts of the panel with those of the list. */
export const textsOfList = (words: PanelTexts): RowTexts => withLater(english, words);

/** The style of the rows, which is loaded with them. All lines begin at one side; Chromium has another name for `match-parent`. */
export const style = `${actStyle}.empty { display: grid; justify-items: center; gap: 4px; padding: 40px 24px 44px; text-align: center; }
.empty svg { width: 28px; height: 28px; color: var(--_muted); margin-bottom: 8px; }
.empty strong { font-weight: ${wTitle}; }
.empty .act { margin-top: 12px; }
.head, .note { flex: none; }
.note { padding: 10px var(--_space); background: var(--_surface); border-bottom: 1px solid var(--_line); font-size: 0.8667em; }
.note .link { padding-block: 0; margin-inline-start: 6px; }
.rest { padding: 10px var(--_space); border-top: 1px solid var(--_line); text-align: center; }
.day h3 { position: sticky; inset-block-start: 0; z-index: 1; padding: 10px var(--_space) 4px; background: var(--_ground); color: var(--_muted);
  font-size: 0.8em; font-weight: ${wStrong}; }
.day h3::first-letter { text-transform: uppercase; }
.item { display: grid; grid-template-columns: 40px 1fr 8px; gap: 12px; width: 100%; padding: 12px var(--_space); color: inherit;
  text-decoration: none; }
li + li > .item { border-top: 1px solid var(--_line); }
.item:hover { background: var(--_surface); }
.item:focus-visible { outline-offset: -3px; border-radius: var(--_radius); }
.thumbnail { position: relative; display: grid; place-items: center; width: 40px; height: 40px; border-radius: 50%;
  background: var(--_surface); color: var(--_muted); font-weight: ${wTitle}; }
.thumbnail.security { color: var(--_accent); }
.item:hover .thumbnail { background: var(--_line); }
.thumbnail img { display: block; width: 100%; height: 100%; object-fit: cover; border-radius: var(--_radius); }
.thumbnail .kind { position: absolute; inset-block-end: -3px; inset-inline-end: -3px; display: grid; place-items: center; width: 20px; height: 20px;
  border-radius: 50%; background: var(--_ground); color: var(--_ink); }
.kind svg { width: 14px; height: 14px; }
.body { display: grid; gap: 2px; min-width: 0; align-content: start; }
.actor, .text { text-align: match-parent; text-align: -webkit-match-parent; }
.actor { font-weight: ${wStrong}; }
.item.new .actor { font-weight: ${wTitle}; }
.time { color: var(--_muted); font-size: 0.8667em; font-variant-numeric: tabular-nums; }
.text { display: block; color: var(--_muted); }
.text.short { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.item.new .text { color: var(--_ink); }
.dot { width: 8px; height: 8px; margin-block-start: 6px; border-radius: 50%; background: var(--_accent); }
@media (forced-colors: active) { .dot { background: Highlight; } }
`;

export interface ListOptions extends PanelParts {
  readonly renderItem: () => ((item: InboxItem) => Node | string) | null;
  readonly hrefOf: (item: InboxItem) => string | null;
  readonly seen: Pick<Seen, 'isUnread'>;
  readonly choose: (item: InboxItem) => boolean;
  readonly retry: () => void;
  readonly view: InboxView;
  readonly extend?: (parts: PanelParts) => RowExtras;
}

/** The rows of the list. A notification keeps its node, so it also keeps the focus. */
export interface Rows {
  readonly list: HTMLElement;
  /** The button that loads more, after the rows. */
  readonly more: HTMLElement;
  /** Null: nothing is wrong. `offline`: no connection. `error`: the last read failed. */
  showConnection(problem: 'offline' | 'error' | null): void;
  /** Shown instead of the rows. */
  note(state: Without): HTMLElement;
  show(snapshot: InboxSnapshot): void;
}

interface Row {
  readonly node: HTMLElement;
  button: HTMLElement;
  item: InboxItem;
  key: string;
  render: ((item: InboxItem) => Node | string) | null;
}

/** The rows of one day. */
interface Day {
  readonly node: HTMLElement;
  readonly heading: HTMLElement;
  readonly list: HTMLElement;
}

export function createRows(options: ListOptions): Rows {
  const { words, language, renderItem, hrefOf, seen, choose, retry, view, root, scroll } = options;
  const extras = options.extend?.(options);
  const rows = new Map<string, Row>();
  const days = new Map<string, Day>();
  const list = element('div', { part: 'list', keydown: (event) => moveFocus(event as KeyboardEvent) });
  const loadMore = async () => {
    const before = view.current.items.length;
    await view.loadMore();
    if (more.hidden || root.activeElement === null) buttons()[before]?.focus();
  };
  const moreButton = linkButton('', () => loadMore(), 'button');
  const more = element('div', { class: 'rest', part: 'footer' }, moreButton);

  function makeRow(item: InboxItem): Row {
    const node = element('li', {});
    return { node, button: node, item, key: '', render: null };
  }
  /** A link for an item that leads somewhere, else a button. */
  function control(row: Row, href: string | null): HTMLElement {
    const attributes = { class: 'item', part: 'item-link', 'data-key': row.item.id };
    if (href === null) return element('button', { ...attributes, type: 'button', click: () => choose(row.item) });
    const open = (event: Event) => {
      // A click with the middle button or a modifier opens another tab, and the page stays.
      const { button, ctrlKey, metaKey, shiftKey } = event as MouseEvent;
      if (button > 1) return;
      const isAllowed = choose(row.item);
      if (!isAllowed && button === 0 && !ctrlKey && !metaKey && !shiftKey) event.preventDefault();
    };
    return element('a', { ...attributes, href, click: open, auxclick: open });
  }
  function dayOf({ created_at }: InboxItem): Day {
    const date = new Date(created_at).toDateString();
    const found = days.get(date);
    if (found !== undefined) return found;
    const id = `day-${date.replaceAll(' ', '-')}`;
    const heading = element('h3', { part: 'day', id });
    const rowsOfDay = element('ul', { 'aria-labelledby': id });
    const day = { node: element('section', { class: 'day' }, heading, rowsOfDay), heading, list: rowsOfDay };
    days.set(date, day);
    return day;
  }

  function fillRow(row: Row, item: InboxItem, isNew: boolean): void {
    const ago = timeAgo(item.created_at, language);
    const href = webAddress(hrefOf(item) ?? extras?.hrefOf(item) ?? null);
    const key = [href, item.updated_at, item.created_at, item.description, item.actor, isNew, ago].join();
    const render = renderItem();
    row.item = item;
    if (row.key === key && row.render === render) return;
    row.key = key;
    row.render = render;
    const tag = href === null ? 'button' : 'a';
    if (row.button.localName !== tag) {
      row.button = control(row, href);
      replaceContent(row.node, row.button);
    }
    if (href !== null) row.button.setAttribute('href', href);
    row.node.setAttribute('part', isNew ? 'item item-unread' : 'item');
    row.button.classList.toggle('new', isNew);
    const time = { part: 'time', class: 'time', datetime: item.created_at, title: fullTime(item.created_at, language) };
    // A notice about the security of the account is never shortened.
    const isShort = item.notification_type !== 'security';
    const text = element('bdi', { part: 'description', class: isShort ? 'text short' : 'text' }, item.description);
    const timeElement = element('time', time, ago);
    const actor = item.actor && element('bdi', { part: 'actor', class: 'actor' }, item.actor);
    const body = render ? [render(item)] : [actor, text, timeElement];
    replaceContent(
      row.button,
      pictureOf(item),
      element('span', { class: 'body' }, ...body),
      isNew && element('span', { class: 'dot', part: 'dot' }, element('span', { class: 'sr-only' }, words.new)),
    );
  }

  function show({ items, hasMore, loading }: InboxSnapshot): void {
    more.hidden = !hasMore;
    moreButton.disabled = loading;
    replaceContent(moreButton, loading && items.length > 0 ? words.loading : words.load_more);
    const { activeElement } = root;
    const focusedIndex = buttons().findIndex(({ parentElement: row }) => activeElement && row?.contains(activeElement));
    const ids = new Set(items.map(({ id }) => id));
    extras?.keep(ids);
    for (const [id, { node }] of rows) {
      if (ids.has(id)) continue;
      node.remove();
      rows.delete(id);
    }
    const places = new Map<Day, Element | null>();
    let nextDay = list.firstElementChild;
    for (const item of items) {
      const day = dayOf(item);
      if (!places.has(day)) {
        places.set(day, day.list.firstElementChild);
        day.heading.textContent = dayName(item.created_at, language);
        if (day.node === nextDay) nextDay = nextDay.nextElementSibling;
        else list.insertBefore(day.node, nextDay);
      }
      const next = places.get(day) ?? null;
      const row = rows.get(item.id) ?? makeRow(item);
      rows.set(item.id, row);
      fillRow(row, item, seen.isUnread(item));
      const tools = extras?.toolsOf(item);
      if (tools && tools.parentNode !== row.node) row.node.append(tools);
      if (row.node === next) places.set(day, next.nextElementSibling);
      else day.list.insertBefore(row.node, next);
    }
    for (const [date, day] of days) {
      if (places.has(day)) continue;
      day.node.remove();
      days.delete(date);
    }
    // The notification with the focus was deleted: focus the one that is now in its position.
    if (focusedIndex >= 0 && root.activeElement === null) buttons()[Math.min(focusedIndex, rows.size - 1)]?.focus();
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

  const connection = element('div', { class: 'note', part: 'connection', role: 'status', hidden: true });
  scroll.before(connection);
  function showConnection(problem: 'offline' | 'error' | null): void {
    connection.hidden = problem === null;
    if (problem === 'offline') replaceContent(connection, words.connection_lost);
    if (problem === 'error') {
      replaceContent(connection, words.not_loaded, linkButton(words.try_again, retry, 'button'));
    }
  }
  const note = (state: Without) => extras?.note(state) ?? noteWithout(state, words, retry);
  return { list, more, showConnection, show, note };
}

/** The words of types of notifications that have an icon. Other types have a bell. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/^security/, 'M10 2.5l6 2.2v4.6c0 4-2.6 6.7-6 8.2-3.4-1.5-6-4.2-6-8.2V4.7zM7.5 10l1.8 1.8 3.4-3.6'],
  [/pay|bill|invoice|refund|money|request|transfer|pool/, 'M2.5 5.5h15v9h-15zM2.5 8.5h15M5.5 12h2.5'],
  [/message|comment|chat|mention|reply/, 'M3 4.5h14v9H8.5L5 16.5v-3H3z'],
  [/event|remind|calendar|meeting|date/, 'M3.5 5h13v11.5h-13zM3.5 8.5h13M7 3v3.5M13 3v3.5'],
  [/order|deliver|ship|parcel/, 'M10 2.8l6.5 3.6v7.2L10 17.2l-6.5-3.6V6.4zM3.5 6.4L10 10l6.5-3.6M10 10v7.2'],
  [
    /friend|follow|invit|member|user/,
    'M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3.8 16.8c.6-3 3-4.6 6.2-4.6s5.6 1.6 6.2 4.6',
  ],
];

/** The image of a notification, or the first letter of its actor with the icon of the type, or this icon alone. */
function pictureOf({ image, actor, notification_type: type }: InboxItem): HTMLElement {
  const [letter] = actor?.trim() ?? '';
  const isSecurity = type === 'security';
  const path = kinds.find(([words]) => words.test(type))?.[1];
  const className = isSecurity ? 'thumbnail security' : 'thumbnail';
  const frame = element('span', { class: className, part: 'thumbnail', 'aria-hidden': 'true' });
  const kind = () => (path === undefined ? null : element('span', { class: 'kind', part: 'kind' }, icon(path)));
  const showFallback = () => {
    if (isSecurity || !letter) replaceContent(frame, icon(path ?? bellPath));
    else replaceContent(frame, letter.toLocaleUpperCase(), kind());
  };
  if (image === null || !isHttpUrl(image.thumbnail_url)) {
    showFallback();
    return frame;
  }
  const loading = { loading: 'lazy', decoding: 'async', referrerpolicy: 'no-referrer' };
  replaceContent(
    frame,
    element('img', { part: 'image', src: image.thumbnail_url, alt: '', ...loading, error: showFallback }),
    kind(),
  );
  return frame;
}

const isHttpUrl = (url: string) => /^https?:\/\//.test(url);
