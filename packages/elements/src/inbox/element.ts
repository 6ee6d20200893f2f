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
import { h, icon, put } from '../base/dom.js';
import { PosternElement } from '../base/element.js';
import { fill } from '../base/texts.js';
import { backPath, backPathRightToLeft, bellPath, settingsPath } from './icons.js';
import { createRows, emptiness, skeleton } from './list.js';
import { place } from './place.js';
import { style } from './style.js';
import { english, type InboxTexts } from './texts.js';

/** Events of `<postern-inbox>`. */
export interface InboxEvents {
  /** The user chose a notification. `preventDefault()` keeps the panel open. */
  readonly 'postern-select': CustomEvent<InboxItem>;
  /** The number of unread notifications has changed. `capped`: there are more. */
  readonly 'postern-unread': CustomEvent<{ readonly count: number; readonly capped: boolean }>;
}

/** How often the times of an open list are shown again, in milliseconds. */
const tick = 60_000;

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
  #conditions: NotificationFilter | null = null;
  #renderItem: ((item: InboxItem) => Node | string) | null = null;
  #unread = '';
  #show: ((isOpen: boolean) => void) | undefined;

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
    return this.#conditions ?? this.getAttribute('filter');
  }
  set filter(filter: NotificationFilter | null) {
    this.#conditions = filter;
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
    if (name === 'open') this.#show?.(after !== null);
    else super.attributeChangedCallback(name, before, after);
  }

  /** @internal */
  protected override start(postern: Postern, signal: AbortSignal): void {
    const inbox = createInbox(postern, { stream: 'tab', ...this.settings?.inbox });
    const view = createInboxView(postern, inbox, { filter: this.filter ?? undefined, limit: this.limit });
    const isBell = this.layout === 'bell';
    const panel = this.#panel(postern, inbox, view, signal, isBell);
    const bell = isBell ? this.#bell(panel.node) : null;
    put(this.root, bell?.button, panel.node, h('p', { class: 'read', role: 'status' }));
    this.#show = (isOpen) => isBell && panel.node.isConnected && panel.node.togglePopover(isOpen);
    if (this.open) this.#show(true);

    const show = (snapshot: InboxSnapshot) => {
      bell?.show(snapshot);
      panel.show(snapshot);
      this.#tell(snapshot);
    };
    const ends = [view.subscribe(show), postern.onChange(() => show(view.current))];
    const refresh = setInterval(() => panel.isShown() && show(view.current), tick);
    signal.addEventListener('abort', () => {
      clearInterval(refresh);
      for (const end of ends) end();
    });
  }

  #bell(panel: HTMLElement) {
    const { words } = this;
    const badge = h('span', { class: 'badge', part: 'badge', 'aria-hidden': 'true', hidden: true });
    const picture = h('slot', { name: 'bell' }, icon(bellPath));
    const attributes = {
      class: 'bell',
      part: 'bell',
      type: 'button',
      'aria-haspopup': 'dialog',
      'aria-expanded': 'false',
    };
    const button = h('button', attributes, picture, badge);
    button.popoverTargetElement = panel;
    const move = () => place(panel, button);
    panel.addEventListener('toggle', (event) => {
      const isOpen = (event as ToggleEvent).newState === 'open';
      button.setAttribute('aria-expanded', `${isOpen}`);
      this.open = isOpen;
      for (const type of ['resize', 'scroll']) {
        if (isOpen) addEventListener(type, move, { capture: true, passive: true });
        else removeEventListener(type, move, { capture: true });
      }
      if (!isOpen) return;
      move();
      panel.focus();
    });
    const show = ({ unread }: InboxSnapshot) => {
      const { unread_count: count, unread_count_capped: more } = unread;
      badge.hidden = count === 0;
      badge.textContent = count > 99 ? '99+' : `${count}`;
      const state = fill(more ? words.unread_more : words.unread, { count });
      button.setAttribute('aria-label', count === 0 ? words.inbox : `${words.inbox}, ${state}`);
    };
    return { button, show };
  }

  #panel(postern: Postern, inbox: Inbox, view: InboxView, signal: AbortSignal, isBell: boolean) {
    const { words, language } = this;
    const isShown = () => !isBell || panel.matches(':popover-open');
    // Up to where the user had read when the list was opened: what is later is marked as new until it is closed.
    let newAfter: number | undefined;
    let marked = 0;
    const rows = createRows({
      words,
      language,
      renderItem: this.#renderItem,
      choose: (item) => this.#choose(item, view, panel),
    });

    const note = h('div', { class: 'note', part: 'connection', role: 'status', hidden: true });
    const list = h('div', { class: 'list' });
    const scroll = h('div', { class: 'scroll' }, list);
    const pushes = h('div', { class: 'pushes', tabindex: -1, hidden: true });
    const readAll = h(
      'button',
      { class: 'link small', part: 'button', type: 'button', click: () => void markAll() },
      words.mark_all_read,
    );
    const more = h(
      'button',
      { class: 'link small', part: 'button', type: 'button', click: () => void loadMore() },
      words.load_more,
    );
    const rest = h('div', { class: 'rest' }, more);
    const isLeftToRight = getComputedStyle(this).direction === 'ltr';
    const backAttributes = {
      class: 'icon first',
      part: 'button',
      type: 'button',
      'aria-label': words.back,
      hidden: true,
    };
    const back = h(
      'button',
      { ...backAttributes, click: () => setPushes(false) },
      icon(isLeftToRight ? backPath : backPathRightToLeft),
    );
    const settingsLabel = { 'aria-label': words.push_settings, title: words.push_settings };
    const settings = h(
      'button',
      { class: 'icon', part: 'button', type: 'button', ...settingsLabel, click: () => setPushes(true) },
      icon(settingsPath),
    );
    const title = h('h2', { part: 'heading', id: 'heading' });
    const heading = h('slot', { name: 'heading' }, words.inbox);
    const panel = h(
      'section',
      {
        class: 'panel',
        part: 'panel',
        'aria-labelledby': 'heading',
        ...(isBell && { popover: 'auto', role: 'dialog', tabindex: -1 }),
      },
      h('div', { class: 'head' }, back, title, readAll, settings),
      note,
      scroll,
      pushes,
    );
    title.append(heading);
    panel.addEventListener('toggle', () => {
      if (!isShown()) setPushes(false);
      newAfter = undefined;
      show(view.current);
    });
    const onVisible = () => show(view.current);
    document.addEventListener('visibilitychange', onVisible, { signal });

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
      if (rest.hidden || this.root.activeElement === null)
        rows.list.querySelectorAll<HTMLElement>('.item')[before]?.focus();
    };
    const setPushes = (isOn: boolean) => {
      if (pushes.hidden === !isOn) return;
      pushes.hidden = back.hidden = !isOn;
      scroll.hidden = settings.hidden = isOn;
      put(title, isOn ? words.push_settings : heading);
      if (isOn) {
        put(pushes, h('p', { class: 'muted small', role: 'status' }, words.loading));
        void this.#fillPushes(pushes, inbox, view.current.items, signal);
        pushes.focus();
      } else if (isShown()) settings.focus();
      show(view.current);
    };

    let reported: unknown = null;
    const show = (snapshot: InboxSnapshot) => {
      const { items, unread, connection, hasMore, loading, error } = snapshot;
      const { status } = postern.current;
      newAfter ??= unread.last_read_sequence;
      // Read elsewhere, or chosen one by one.
      if (this.markRead !== 'open') newAfter = unread.last_read_sequence;
      rows.show(items, newAfter);
      const [newest] = items;
      const reads = this.markRead === 'open' && isShown() && document.visibilityState === 'visible';
      if (reads && newest !== undefined && newest.sequence > Math.max(marked, unread.last_read_sequence)) {
        marked = newest.sequence;
        void view.markAllRead();
      }
      readAll.hidden = !pushes.hidden || unread.unread_count === 0;
      settings.hidden = !pushes.hidden || status !== 'signed_in';
      rest.hidden = !hasMore;
      more.disabled = loading;
      more.textContent = loading && items.length > 0 ? words.loading : words.load_more;
      const isLost = status === 'signed_in' && connection === 'offline' && items.length > 0;
      note.hidden = error === null && !isLost;
      if (error !== null) put(note, words.not_loaded, this.#again());
      else if (isLost) put(note, words.connection_lost);
      if (items.length > 0) {
        if (!rows.list.isConnected) put(list, rows.list, rest);
      } else if (status === 'signed_out') put(list, h('p', { class: 'empty muted' }, words.signed_out));
      else if (loading || status === 'starting') {
        if (list.querySelector('.bones') === null) put(list, skeleton(words.loading));
      } else if (error === null && list.querySelector('.empty') === null) put(list, emptiness(words));
      if (error !== reported && error !== null) this.report(error);
      reported = error;
    };
    return { node: panel, show, isShown };
  }

  /** The settings are loaded when a user opens them. */
  async #fillPushes(node: HTMLElement, inbox: Inbox, items: readonly InboxItem[], signal: AbortSignal): Promise<void> {
    const { words } = this;
    try {
      const { showPushes, style } = await import('./pushes.js');
      this.adoptStyle(style);
      showPushes(node, { inbox, words, items, signal, report: (error) => void this.report(error) });
    } catch {
      put(node, h('p', { role: 'alert' }, words.push_failed));
    }
  }

  #again(): HTMLElement {
    return h(
      'button',
      { class: 'link', part: 'button', type: 'button', click: () => this.restart() },
      this.words.try_again,
    );
  }

  #choose(item: InboxItem, view: InboxView, panel: HTMLElement): void {
    if (this.markRead === 'select') void view.markRead(item);
    const goesOn = this.emit('postern-select', item);
    if (goesOn && this.layout === 'bell') panel.hidePopover();
  }

  /** Reports the number of unread notifications to the page, and to screen readers if it has grown. */
  #tell({ unread, loading }: InboxSnapshot): void {
    const { unread_count: count, unread_count_capped: capped } = unread;
    const state = this.#internals.states;
    if (count > 0) state.add('unread');
    else state.delete('unread');
    const now = `${count} ${capped}`;
    if (loading || now === this.#unread) return;
    const [before] = this.#unread.split(' ');
    const status = this.root.querySelector('p[role=status]');
    if (status && before && count > Number(before)) status.textContent = fill(this.words.unread, { count });
    this.#unread = now;
    this.emit('postern-unread', { count, capped });
  }
}
