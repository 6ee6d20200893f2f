import {
  createInbox,
  createInboxView,
  type Inbox,
  type InboxItem,
  type InboxSnapshot,
  type InboxView,
  type NotificationFilter,
  type Postern,
} from '@postern/client';
import { element, icon, replaceContent } from '../base/dom.js';
import { PosternElement } from '../base/element.js';
import { fill } from '../base/texts.js';
import { backPath, backPathRightToLeft, bellPath, settingsPath } from './icons.js';
import { createRows, emptyNote, skeleton } from './list.js';
import { positionPanel } from './panel-position.js';
import { style } from './style.js';
import { english, type InboxTexts } from './texts.js';

/** Events of `<postern-inbox>`. */
export interface InboxEvents {
  /** The user chose a notification. `preventDefault()` keeps the panel open. */
  readonly 'postern-select': CustomEvent<InboxItem>;
  /** The number of unread notifications has changed. `capped`: there are more. */
  readonly 'postern-unread': CustomEvent<{ readonly count: number; readonly capped: boolean }>;
}

/** How often an open list updates its times, in milliseconds. */
const refreshMs = 60_000;

/**
 * `<postern-inbox>`: a bell with the number of unread notifications and a panel with the live list, or the list alone.
 *
 * Parts: `bell`, `badge`, `panel`, `heading`, `list`, `item`, `item-unread`, `actor`, `description`, `time`, `image`, `empty`,
 * `button`, `switch`, `connection`. Slots: `bell`, `heading`, `empty`. `:state(unread)` matches the element while something is unread.
 *
 * @example
 * ```ts
 * import { defineInbox } from '@postern/elements/inbox';
 * import { createPostern, indexedDbStorage } from '@postern/client';
 *
 * defineInbox({ postern: createPostern({ url: 'https://auth.example.com', storage: indexedDbStorage() }) });
 * document.querySelector('postern-inbox')?.on('postern-select', ({ detail }) => location.assign(`/bills/${detail.object_id}`));
 * ```
 */
export class PosternInbox extends PosternElement<InboxEvents, InboxTexts> {
  /** @internal */
  static readonly tag = 'postern-inbox';
  /** @internal */
  static readonly style = style;
  /** @internal */
  static readonly observedAttributes = ['lang', 'layout', 'filter', 'limit', 'mark-read', 'open'];

  readonly #internals = this.attachInternals();
  #filter: NotificationFilter | null = null;
  #renderItem: ((item: InboxItem) => Node | string) | null = null;
  #unread = '';
  #togglePanel: ((isOpen: boolean) => void) | undefined;

  constructor() {
    super(english, { es: async () => (await import('./es.js')).spanish });
  }

  /** Attribute `layout`: a bell with a panel, or the list alone. */
  get layout(): 'bell' | 'list' {
    return this.getAttribute('layout') === 'list' ? 'list' : 'bell';
  }
  set layout(layout: 'bell' | 'list') {
    this.attribute('layout', layout);
  }

  /** Attribute `filter`, in the grammar of the service. The property takes conditions, too. */
  get filter(): NotificationFilter | null {
    return this.#filter ?? this.getAttribute('filter');
  }
  set filter(filter: NotificationFilter | null) {
    this.#filter = filter;
    this.restart();
  }

  /** Attribute `limit`: the number of notifications that are loaded at once, from 1 to 100. 20 by default. */
  get limit(): number {
    const limit = Number(this.getAttribute('limit') ?? 20);
    return Number.isInteger(limit) && limit >= 1 && limit <= 100 ? limit : 20;
  }
  set limit(limit: number) {
    this.attribute('limit', limit);
  }

  /** Attribute `mark-read`: what marks notifications as read. The user can always mark all. `open` by default. */
  get markRead(): 'open' | 'select' | 'never' {
    const mark = this.getAttribute('mark-read');
    return mark === 'select' || mark === 'never' ? mark : 'open';
  }
  set markRead(mark: 'open' | 'select' | 'never') {
    this.attribute('mark-read', mark);
  }

  /** Attribute `open`: whether the panel is open. It follows the user. */
  get open(): boolean {
    return this.hasAttribute('open');
  }
  set open(open: boolean) {
    this.attribute('open', open);
  }

  /** Shows an item in your own way. The nodes are used as they are, and text is never read as HTML. Each item is in a button. */
  get renderItem(): ((item: InboxItem) => Node | string) | null {
    return this.#renderItem;
  }
  set renderItem(render: ((item: InboxItem) => Node | string) | null) {
    this.#renderItem = render;
    this.restart();
  }

  /** @internal */
  override attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (name === 'open') this.#togglePanel?.(after !== null);
    else super.attributeChangedCallback(name, before, after);
  }

  /** @internal */
  protected override start(postern: Postern, signal: AbortSignal): void {
    const inbox = createInbox(postern, { stream: 'tab', ...this.settings?.inbox });
    const view = createInboxView(postern, inbox, { filter: this.filter ?? undefined, limit: this.limit });
    const isBell = this.layout === 'bell';
    const panel = this.#panel(postern, inbox, view, signal, isBell);
    const bell = isBell ? this.#bell(panel.node) : null;
    replaceContent(this.root, bell?.button, panel.node, element('p', { class: 'sr-only', role: 'status' }));
    this.#togglePanel = (isOpen) => isBell && panel.node.isConnected && panel.node.togglePopover(isOpen);
    if (this.open) this.#togglePanel(true);

    const show = (snapshot: InboxSnapshot) => {
      bell?.show(snapshot);
      panel.show(snapshot);
      this.#reportUnread(snapshot);
    };
    const unsubscribes = [view.subscribe(show), postern.onChange(() => show(view.current))];
    const timer = setInterval(() => panel.isShown() && show(view.current), refreshMs);
    signal.addEventListener('abort', () => {
      clearInterval(timer);
      for (const unsubscribe of unsubscribes) unsubscribe();
    });
  }

  #bell(panel: HTMLElement) {
    const { words } = this;
    const badge = element('span', { class: 'badge', part: 'badge', 'aria-hidden': 'true', hidden: true });
    const picture = element('slot', { name: 'bell' }, icon(bellPath));
    const attributes = {
      class: 'bell',
      part: 'bell',
      type: 'button',
      'aria-haspopup': 'dialog',
      'aria-expanded': 'false',
    };
    const button = element('button', attributes, picture, badge);
    button.popoverTargetElement = panel;
    const updatePosition = () => positionPanel(panel, button);
    panel.addEventListener('toggle', (event) => {
      const isOpen = (event as ToggleEvent).newState === 'open';
      button.setAttribute('aria-expanded', `${isOpen}`);
      this.open = isOpen;
      for (const type of ['resize', 'scroll']) {
        if (isOpen) addEventListener(type, updatePosition, { capture: true, passive: true });
        else removeEventListener(type, updatePosition, { capture: true });
      }
      if (!isOpen) return;
      updatePosition();
      panel.focus();
    });
    const show = ({ unread }: InboxSnapshot) => {
      const { unread_count: count, unread_count_capped: isCapped } = unread;
      badge.hidden = count === 0;
      badge.textContent = count > 99 ? '99+' : `${count}`;
      const countText = fill(isCapped ? words.unread_more : words.unread, { count });
      button.setAttribute('aria-label', count === 0 ? words.inbox : `${words.inbox}, ${countText}`);
    };
    return { button, show };
  }

  #panel(postern: Postern, inbox: Inbox, view: InboxView, signal: AbortSignal, isBell: boolean) {
    const { words, language } = this;
    const isShown = () => !isBell || panel.matches(':popover-open');
    // The read position when the list was opened. Later notifications are marked as new until it is closed.
    let newAfter: number | undefined;
    let markedUpTo = 0;
    const rows = createRows({
      words,
      language,
      renderItem: this.#renderItem,
      choose: (item) => this.#choose(item, view, panel),
    });

    const connectionNote = element('div', { class: 'note', part: 'connection', role: 'status', hidden: true });
    const list = element('div', { class: 'list' });
    const scroll = element('div', { class: 'scroll' }, list);
    const pushSettings = element('div', { class: 'pushes', tabindex: -1, hidden: true });
    const markAllButton = element(
      'button',
      { class: 'link small', part: 'button', type: 'button', click: () => void markAll() },
      words.mark_all_read,
    );
    const loadMoreButton = element(
      'button',
      { class: 'link small', part: 'button', type: 'button', click: () => void loadMore() },
      words.load_more,
    );
    const loadMoreRow = element('div', { class: 'rest' }, loadMoreButton);
    const isLeftToRight = getComputedStyle(this).direction === 'ltr';
    const backAttributes = {
      class: 'icon first',
      part: 'button',
      type: 'button',
      'aria-label': words.back,
      hidden: true,
    };
    const backButton = element(
      'button',
      { ...backAttributes, click: () => showPushSettings(false) },
      icon(isLeftToRight ? backPath : backPathRightToLeft),
    );
    const settingsLabel = { 'aria-label': words.push_settings, title: words.push_settings };
    const settingsButton = element(
      'button',
      { class: 'icon', part: 'button', type: 'button', ...settingsLabel, click: () => showPushSettings(true) },
      icon(settingsPath),
    );
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
      if (loadMoreRow.hidden || this.root.activeElement === null)
        rows.list.querySelectorAll<HTMLElement>('.item')[before]?.focus();
    };
    const showPushSettings = (isOn: boolean) => {
      if (pushSettings.hidden === !isOn) return;
      pushSettings.hidden = backButton.hidden = !isOn;
      scroll.hidden = settingsButton.hidden = isOn;
      replaceContent(title, isOn ? words.push_settings : heading);
      if (isOn) {
        replaceContent(pushSettings, element('p', { class: 'muted small', role: 'status' }, words.loading));
        void this.#loadPushSettings(pushSettings, inbox, view.current.items, signal);
        pushSettings.focus();
      } else if (isShown()) settingsButton.focus();
      show(view.current);
    };

    let reportedError: unknown = null;
    const show = (snapshot: InboxSnapshot) => {
      const { items, unread, connection, hasMore, loading, error } = snapshot;
      const { status } = postern.current;
      newAfter ??= unread.last_read_sequence;
      // The user may also mark single notifications as read, here or on another device.
      if (this.markRead !== 'open') newAfter = unread.last_read_sequence;
      rows.show(items, newAfter);
      const [newest] = items;
      const marksAsRead = this.markRead === 'open' && isShown() && document.visibilityState === 'visible';
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
      if (error !== null) replaceContent(connectionNote, words.not_loaded, this.#retryButton());
      else if (isOffline) replaceContent(connectionNote, words.connection_lost);
      if (items.length > 0) {
        if (!rows.list.isConnected) replaceContent(list, rows.list, loadMoreRow);
      } else if (status === 'signed_out')
        replaceContent(list, element('p', { class: 'empty muted' }, words.signed_out));
      else if (loading || status === 'starting') {
        if (list.querySelector('.skeleton') === null) replaceContent(list, skeleton(words.loading));
      } else if (error === null && list.querySelector('.empty') === null) replaceContent(list, emptyNote(words));
      if (error !== reportedError && error !== null) this.report(error);
      reportedError = error;
    };
    return { node: panel, show, isShown };
  }

  /** The settings are loaded when a user opens them. */
  async #loadPushSettings(
    node: HTMLElement,
    inbox: Inbox,
    items: readonly InboxItem[],
    signal: AbortSignal,
  ): Promise<void> {
    const { words } = this;
    try {
      const { showPushSettings, style } = await import('./pushes.js');
      this.adoptStyle(style);
      showPushSettings(node, { inbox, words, items, signal, report: (error) => void this.report(error) });
    } catch {
      replaceContent(node, element('p', { role: 'alert' }, words.push_failed));
    }
  }

  #retryButton(): HTMLElement {
    return element(
      'button',
      { class: 'link', part: 'button', type: 'button', click: () => this.restart() },
      this.words.try_again,
    );
  }

  #choose(item: InboxItem, view: InboxView, panel: HTMLElement): void {
    if (this.markRead === 'select') void view.markRead(item);
    const isAllowed = this.emit('postern-select', item);
    if (isAllowed && this.layout === 'bell') panel.hidePopover();
  }

  /** Reports the number of unread notifications to the page, and to screen readers if it has grown. */
  #reportUnread({ unread, loading }: InboxSnapshot): void {
    const { unread_count: count, unread_count_capped: capped } = unread;
    const states = this.#internals.states;
    if (count > 0) states.add('unread');
    else states.delete('unread');
    const shownCount = `${count} ${capped}`;
    if (loading || shownCount === this.#unread) return;
    const [formerCount] = this.#unread.split(' ');
    const status = this.root.querySelector('p[role=status]');
    if (status && formerCount && count > Number(formerCount)) status.textContent = fill(this.words.unread, { count });
    this.#unread = shownCount;
    this.emit('postern-unread', { count, capped });
  }
}
