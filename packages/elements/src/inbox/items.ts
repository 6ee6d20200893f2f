import {
  createInbox,
  createItemsView,
  type InboxItem,
  type InboxOptions,
  type InboxSnapshot,
  type InboxView,
  type ItemsPart,
  type ItemsSnapshot,
  type ItemsView,
  type ItemsViewOptions,
  type Postern,
  type StatefulItem,
} from '@postern/client';
import { element, icon, replaceContent } from '../base/dom.js';
import { smallButton } from '../base/small-button.js';
import { withLater } from '../base/texts.js';
import { bellPath } from './icons.js';
import { style } from './item-style.js';
import { english, type ItemTexts } from './item-texts.js';
import { createItemTools } from './item-tools.js';
import type { PanelParts, RowExtras } from './row-extras.js';
import type { SharedList } from './shared-list.js';
import type { RowTexts } from './texts.js';

const parts = ['inbox', 'archived', 'snoozed'] as const;

/** The list of an inbox with states. The panel uses it like a list with a read position, and adds the tabs and buttons. */
export function createItemsList(
  postern: Postern,
  options: InboxOptions | undefined,
  query: ItemsViewOptions,
  features: readonly string[],
): SharedList {
  const inbox = createInbox(postern, { stream: 'tab', ...options });
  const items = createItemsView(postern, inbox, query);
  return {
    inbox,
    view: asInboxView(items),
    uses: 0,
    seen: {
      see: createSee(items),
      open: ({ id }) => void items.markRead([id]),
      isUnread: ({ isUnread }) => isUnread,
      unseen: () => {
        const { unseen, is_capped } = items.current.counts;
        return { count: unseen, capped: is_capped && unseen >= 100 };
      },
    },
    extend: (panel) => extend(items, features, panel),
  };
}

/** Marks the newest notification as seen, once, if there are unseen ones. */
function createSee(items: ItemsView): () => void {
  let seenThrough = 0;
  return () => {
    const { counts, items: shown } = items.current;
    const newest = shown[0]?.sequence ?? 0;
    if (counts.unseen === 0 || newest <= seenThrough) return;
    seenThrough = newest;
    void items.seen().then((isKnown) => {
      if (!isKnown) seenThrough = 0;
    });
  };
}

function asInboxView(items: ItemsView): InboxView {
  let last: { readonly from: ItemsSnapshot; readonly snapshot: InboxSnapshot } | undefined;
  const snapshotOf = (from: ItemsSnapshot): InboxSnapshot => {
    if (last?.from === from) return last.snapshot;
    const { items: shown, connection, hasMore, loading, error, counts } = from;
    const unread = { unread_count: counts.unread, unread_count_capped: counts.is_capped, last_read_sequence: 0 };
    const snapshot = { items: shown, connection, hasMore, loading, error, unread: { ...unread, updated_at: null } };
    last = { from, snapshot };
    return snapshot;
  };
  return {
    get current() {
      return snapshotOf(items.current);
    },
    subscribe: (listener) => items.subscribe((next) => listener(snapshotOf(next))),
    onChange: (listener) => items.onChange((next, previous) => listener(snapshotOf(next), snapshotOf(previous))),
    loadMore: items.loadMore,
    markRead: async ({ sequence }) => {
      const ids = items.current.items.filter((item) => item.sequence === sequence).map(({ id }) => id);
      await items.markRead(ids);
    },
    markAllRead: items.markAllRead,
  };
}

/** Adds the tabs to the panel, and the buttons to the rows. */
function extend(items: ItemsView, features: readonly string[], panel: PanelParts): RowExtras {
  const words: RowTexts & ItemTexts = withLater(english, panel.words);
  panel.adoptStyle(style);
  const issue = element('p', { class: 'issue small', part: 'issue', role: 'alert' });
  const buttons = parts.map((part) => {
    const show = () => {
      items.show(part);
      panel.scroll.scrollTop = 0;
    };
    return smallButton(words[`tab_${part}`], show, {
      class: 'act quiet tab',
      part: 'button tab',
      'data-key': `tab-${part}`,
    });
  });
  const group = element('div', { class: 'tabs', part: 'tabs', role: 'group', 'aria-label': words.show }, ...buttons);
  group.hidden = !features.includes('tabs');
  panel.head.after(group, issue);
  const tools = createItemTools({ items, words, language: panel.language, features, root: panel.root });

  function show(): void {
    const { view, changeError } = items.current;
    for (const [index, button] of buttons.entries()) button.setAttribute('aria-pressed', `${parts[index] === view}`);
    // "All" does not include archived and snoozed notifications.
    panel.head.classList.toggle('elsewhere', view !== 'inbox');
    const text = changeError === null ? '' : words.push_failed;
    if (issue.textContent !== text) replaceContent(issue, text);
  }
  const unsubscribe = items.subscribe(show);
  panel.signal.addEventListener('abort', unsubscribe);

  return {
    hrefOf: (item) => (item as StatefulItem).extra.url,
    toolsOf: (item: InboxItem) => tools.of(item as StatefulItem),
    keep: (ids) => tools.keep(ids),
    note(state) {
      const { view } = items.current;
      if (state !== 'empty' || view === 'inbox') return undefined;
      const text = element('strong', { part: 'name' }, words[`${view}_empty` as const]);
      return element('div', { class: 'empty', part: 'empty' }, icon(bellPath), text);
    },
    part: (): ItemsPart => items.current.view,
  };
}
