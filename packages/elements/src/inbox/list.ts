import type { InboxItem, InboxSnapshot, InboxView } from '@postern/client';
import { element, linkButton, replaceContent } from '../base/dom.js';
import { actStyle } from '../base/small-button.js';
import { withLater } from '../base/texts.js';
import { dayName } from '../base/time.js';
import { wStrong, wTitle } from '../base/tokens.js';
import { english } from './list-texts.js';
import { noteWithout, type Without } from './placeholders.js';
import { createRow, type Row, type RowOptions } from './row.js';
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

export interface ListOptions extends PanelParts, RowOptions {
  readonly seen: Pick<Seen, 'isUnread'>;
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

/** The rows of one day. */
interface Day {
  readonly node: HTMLElement;
  readonly heading: HTMLElement;
  readonly list: HTMLElement;
}

export function createRows(options: ListOptions): Rows {
  const { words, language, seen, retry, view, root, scroll } = options;
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
      const row = rows.get(item.id) ?? createRow(options, (each) => extras?.hrefOf(each) ?? null);
      rows.set(item.id, row);
      row.fill(item, seen.isUnread(item));
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
