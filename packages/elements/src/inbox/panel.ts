import {
  type Inbox,
  type InboxItem,
  type InboxSnapshot,
  type InboxView,
  isPosternError,
  type Postern,
} from '@postern/client';
import { loadPart, wait } from '@postern/client/internal';
import { element, linkButton, replaceContent } from '../base/dom.js';
import type { Rows } from './list.js';
import type { Without } from './placeholders.js';
import type { PushView } from './push-view.js';
import type { PanelParts, RowExtras } from './row-extras.js';
import type { Seen } from './seen.js';
import type { PanelTexts } from './texts.js';

export interface PanelOptions {
  readonly postern: Postern;
  readonly inbox: Inbox;
  readonly view: InboxView;
  readonly signal: AbortSignal;
  readonly words: PanelTexts;
  readonly language: string;
  readonly root: ShadowRoot;
  /** Whether the panel is a popover of a bell. Otherwise it is always shown. */
  readonly isBell: boolean;
  /** The page's own function for an item, if it has set one. */
  renderItem(): ((item: InboxItem) => Node | string) | null;
  hrefOf(item: InboxItem): string | null;
  readonly seen: Pick<Seen, 'isUnread'>;
  /** Adds tabs, and buttons to the rows. */
  readonly extend?: (parts: PanelParts) => RowExtras;
  /** The user has opened an item. @returns false if the page has called `preventDefault()` */
  choose(item: InboxItem): boolean;
  retry(): void;
  report(error: unknown): void;
  adoptStyle(style: string): void;
  /** Shows the list again, because what is on the screen has changed. */
  showAgain(): void;
  /** Moves the panel to its button again. */
  placeAgain(): void;
  /** Puts the focus back after the panel was built again. */
  restoreTyped(): void;
}

/** The list with its heading, and the push settings in its place when the user opens them. */
export interface Panel {
  readonly node: HTMLElement;
  isShown(): boolean;
  show(snapshot: InboxSnapshot): void;
  /** Moves the open panel to its button, once the code for it is loaded. Until then, the style says where it is. */
  place(button: HTMLElement): void;
}

/** What the list shows: rows, or something in their place. */
type State = 'loading' | Without | 'list';

function stateOf(
  { items, loading, connection, error: readError }: InboxSnapshot,
  error: unknown,
  { status }: Postern['current'],
  rows: Rows | undefined,
): State {
  if (status === 'signed_out') return 'signed-out';
  if (items.length > 0 && rows) return 'list';
  if (error !== null) return isOfflineError(readError) ? 'offline' : 'error';
  if (loading || items.length > 0 || status === 'starting') return 'loading';
  return connection === 'offline' ? 'offline' : 'empty';
}

const isOfflineError = (error: unknown) => isPosternError(error) && error.kind === 'network';

export function createPanel(options: PanelOptions): Panel {
  const { postern, view, signal, words, isBell } = options;
  const isShown = () => !isBell || panel.matches(':popover-open');
  /** Loaded together with the first notifications. */
  let rows: Rows | undefined;
  let rowsError: unknown = null;
  let pushView: PushView | undefined;
  let place: Panel['place'] | undefined;

  const list = element('div', { class: 'list' });
  const scroll = element('div', { class: 'scroll' }, list);
  const markAllButton = linkButton(words.mark_all_read, () => markAll(), 'button');
  const title = element('h2', { part: 'heading', id: 'heading' });
  const heading = element('slot', { name: 'heading' }, words.inbox);
  const head = element('div', { class: 'head', part: 'header' }, title, markAllButton);
  const panel = element(
    'section',
    {
      class: 'panel',
      part: 'panel',
      'aria-labelledby': 'heading',
      ...(isBell && { popover: 'auto', role: 'dialog', tabindex: -1 }),
    },
    head,
    scroll,
  );
  title.append(heading);
  panel.addEventListener('toggle', () => {
    if (!isShown()) pushView?.open(false);
    options.showAgain();
  });
  const onVisibilityChange = () => options.showAgain();
  document.addEventListener('visibilitychange', onVisibilityChange, { signal });

  const markAll = async () => {
    panel.focus();
    await view.markAllRead();
  };
  const loadRows = async () => {
    while (rows === undefined && !signal.aborted) {
      try {
        const part = await loadPart(() => import('./list.js'));
        options.adoptStyle(part.style);
        const listOptions = { ...options, words: part.textsOfList(words), head, scroll };
        rows = part.createRows(listOptions);
        place = (button) => part.positionPanel(panel, button);
        options.placeAgain();
        pushView = part.createPushView(listOptions, {
          ...listOptions,
          panel,
          title,
          heading,
          isShown,
          show: () => show(view.current),
        });
        shownState = undefined;
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

  let shownState: State | undefined;
  function showState(state: Exclude<State, 'list'>): void {
    if (state === shownState) return;
    if (state !== 'loading') {
      replaceContent(
        list,
        rows?.note(state) ??
          element('p', { part: 'hint' }, words.not_loaded, ' ', linkButton(words.try_again, options.retry, 'button')),
      );
      return;
    }
    const bar = () => element('i', { class: 'skeleton', part: 'skeleton' });
    const status = element('span', { class: 'sr-only', role: 'status' }, words.loading);
    replaceContent(list, element('div', { class: 'waiting' }, status, bar(), bar(), bar()));
  }

  let reportedError: unknown = null;
  const show = (snapshot: InboxSnapshot) => {
    const { items, unread, connection } = snapshot;
    const error = snapshot.error ?? (items.length > 0 ? rowsError : null);
    const isLoaded = rows !== undefined || rowsError !== null;
    const state = isLoaded ? stateOf(snapshot, error, postern.current, rows) : 'loading';
    rows?.show(snapshot);
    markAllButton.hidden = pushView?.isOpen() === true || unread.unread_count === 0;
    pushView?.show(postern.current.status === 'signed_in');
    const problem = error === null || isOfflineError(error) ? 'offline' : 'error';
    const isWrong = state === 'list' && (error !== null || connection === 'offline');
    rows?.showConnection(isWrong ? problem : null);
    if (state !== 'list') showState(state);
    else if (rows !== undefined && !rows.list.isConnected) replaceContent(list, rows.list, rows.more);
    shownState = state;
    if (error !== reportedError && error !== null) options.report(error);
    reportedError = error;
  };
  void loadRows();
  return { node: panel, show, isShown, place: (button) => place?.(button) };
}
