import type { Inbox, InboxItem, InboxSnapshot, InboxView, Postern } from '@postern/client';
import { loadPart, wait } from '@postern/client/internal';
import { element, icon, replaceContent } from '../base/dom.js';
import { backPath, settingsPath } from './icons.js';
import type { Rows } from './list.js';
import { emptyNote, skeleton } from './placeholders.js';
import type { ListTexts } from './texts.js';

export interface PanelOptions {
  readonly postern: Postern;
  readonly inbox: Inbox;
  readonly view: InboxView;
  readonly signal: AbortSignal;
  readonly words: ListTexts;
  readonly language: string;
  readonly root: ShadowRoot;
  /** Whether the panel is a popover of a bell. Otherwise it is always shown. */
  readonly isBell: boolean;
  /** The page's own function for an item, if it has set one. */
  renderItem(): ((item: InboxItem) => Node | string) | null;
  /** What marks notifications as read. */
  markRead(): 'open' | 'select' | 'never';
  choose(item: InboxItem): void;
  retry(): void;
  report(error: unknown): void;
  adoptStyle(style: string): void;
  /** Puts the focus back after the panel was built again. */
  restoreTyped(): void;
}

/** The list with its heading, and the push settings in its place when the user opens them. */
export interface Panel {
  readonly node: HTMLElement;
  isShown(): boolean;
  show(snapshot: InboxSnapshot): void;
}

export function createPanel(options: PanelOptions): Panel {
  const { postern, inbox, view, signal, words, language, isBell, root } = options;
  const isShown = () => !isBell || panel.matches(':popover-open');
  // The read position when the list was opened. Later notifications are marked as new until it is closed.
  let newAfter: number | undefined;
  let markedUpTo = 0;
  /** Loaded beside the first notifications. Until then, there is nothing to show in them. */
  let rows: Rows | undefined;
  let rowsError: unknown = null;

  const connectionNote = element('div', { class: 'note', part: 'connection', role: 'status', hidden: true });
  const list = element('div', { class: 'list' });
  const scroll = element('div', { class: 'scroll' }, list);
  const pushSettings = element('div', { class: 'pushes', tabindex: -1, hidden: true });
  const linkButton = (text: string, click: () => unknown, className = 'link small') =>
    element('button', { class: className, part: 'button', type: 'button', click }, text);
  const markAllButton = linkButton(words.mark_all_read, () => markAll());
  const loadMoreButton = linkButton('', () => loadMore());
  const loadMoreRow = element('div', { class: 'rest' }, loadMoreButton);
  const iconButton = (label: string, path: string, opensSettings: boolean) =>
    element(
      'button',
      {
        ...{ class: opensSettings ? 'icon' : 'icon first', part: 'button', type: 'button' },
        ...{ 'aria-label': label, title: label, hidden: !opensSettings, click: () => showPushSettings(opensSettings) },
      },
      icon(path),
    );
  const backButton = iconButton(words.back, backPath, false);
  const settingsButton = iconButton(words.push_settings, settingsPath, true);
  const title = element('h2', { part: 'heading', id: 'heading' });
  const heading = element('slot', { name: 'heading' }, words.inbox);
  const panel = element(
    'section',
    {
      class: 'panel',
      part: 'panel',
      'aria-labelledby': 'heading',
      ...(isBell && { popover: 'auto', role: 'dialog', tabindex: -1 }),
    },
    element('div', { class: 'head' }, backButton, title, markAllButton, settingsButton),
    connectionNote,
    scroll,
    pushSettings,
  );
  title.append(heading);
  panel.addEventListener('toggle', () => {
    if (!isShown()) showPushSettings(false);
    newAfter = undefined;
    show(view.current);
  });
  const onVisibilityChange = () => show(view.current);
  document.addEventListener('visibilitychange', onVisibilityChange, { signal });

  const markAll = async () => {
    newAfter = undefined;
    panel.focus();
    await view.markAllRead();
    newAfter = view.current.unread.last_read_sequence;
    show(view.current);
  };
  const loadMore = async () => {
    const before = view.current.items.length;
    await view.loadMore();
    if (loadMoreRow.hidden || root.activeElement === null)
      rows?.list.querySelectorAll<HTMLElement>('.item')[before]?.focus();
  };
  const loadRows = async () => {
    while (rows === undefined && !signal.aborted) {
      try {
        const part = await loadPart(() => import('./list.js'));
        options.adoptStyle(part.style);
        rows = part.createRows({ words, language, renderItem: options.renderItem, choose: options.choose });
        rowsError = null;
      } catch (error) {
        rowsError = error;
      }
      if (signal.aborted) return;
      show(view.current);
      options.restoreTyped();
      if (rows === undefined) await wait(5000, signal);
    }
  };
  // The settings are loaded when a user opens them.
  const loadPushSettings = async () => {
    try {
      const settings = await import('./pushes.js');
      options.adoptStyle(settings.style);
      const { items } = view.current;
      settings.showPushSettings(pushSettings, { inbox, words, items, signal, report: options.report });
    } catch {
      replaceContent(pushSettings, element('p', { role: 'alert' }, words.push_failed));
    }
  };
  const showPushSettings = (isOn: boolean) => {
    if (pushSettings.hidden === !isOn) return;
    pushSettings.hidden = backButton.hidden = !isOn;
    scroll.hidden = settingsButton.hidden = isOn;
    replaceContent(title, isOn ? words.push_settings : heading);
    if (isOn) {
      replaceContent(pushSettings, element('p', { class: 'muted small', role: 'status' }, words.loading));
      void loadPushSettings();
      pushSettings.focus();
    } else if (isShown()) settingsButton.focus();
    show(view.current);
  };

  const retryButton = () => linkButton(words.try_again, options.retry, 'link');

  let reportedError: unknown = null;
  const show = (snapshot: InboxSnapshot) => {
    const { items, unread, connection, hasMore, loading } = snapshot;
    const { status } = postern.current;
    const error = snapshot.error ?? (items.length > 0 ? rowsError : null);
    newAfter ??= unread.last_read_sequence;
    // The user may also mark single notifications as read, here or on another device.
    if (options.markRead() !== 'open') newAfter = unread.last_read_sequence;
    rows?.show(items, newAfter);
    const [newest] = items;
    const isSeen = rows !== undefined && isShown() && document.visibilityState === 'visible';
    const marksAsRead = isSeen && options.markRead() === 'open';
    if (marksAsRead && newest !== undefined && newest.sequence > Math.max(markedUpTo, unread.last_read_sequence)) {
      markedUpTo = newest.sequence;
      void view.markAllRead();
    }
    markAllButton.hidden = !pushSettings.hidden || unread.unread_count === 0;
    settingsButton.hidden = !pushSettings.hidden || status !== 'signed_in';
    loadMoreRow.hidden = !hasMore;
    loadMoreButton.disabled = loading;
    loadMoreButton.textContent = loading && items.length > 0 ? words.loading : words.load_more;
    const isOffline = status === 'signed_in' && connection === 'offline' && items.length > 0;
    connectionNote.hidden = error === null && !isOffline;
    if (error !== null) replaceContent(connectionNote, words.not_loaded, retryButton());
    else if (isOffline) replaceContent(connectionNote, words.connection_lost);
    if (items.length > 0 && rows !== undefined) {
      if (!rows.list.isConnected) replaceContent(list, rows.list, loadMoreRow);
    } else if (status === 'signed_out') replaceContent(list, element('p', { class: 'empty muted' }, words.signed_out));
    else if (loading || items.length > 0 || status === 'starting') {
      if (list.querySelector('.skeleton') === null) replaceContent(list, skeleton(words.loading));
    } else if (error === null && list.querySelector('.empty') === null) replaceContent(list, emptyNote(words));
    if (error !== reportedError && error !== null) options.report(error);
    reportedError = error;
  };
  void loadRows();
  return { node: panel, show, isShown };
}
