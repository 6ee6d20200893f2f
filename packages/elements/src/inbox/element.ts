import {
  createInbox,
  createInboxView,
  type InboxItem,
  type InboxOptions,
  type InboxSnapshot,
  type InboxViewOptions,
  type NotificationFilter,
  type Postern,
} from '@postern/client';
import { wait } from '@postern/client/internal';
import { element, replaceContent } from '../base/dom.js';
import { PosternElement } from '../base/element.js';
import { countText } from '../base/texts.js';
import { createBell } from './bell.js';
import type { ActionDetail } from './item-actions.js';
import { createPanel } from './panel.js';
import { createSeen, type Seen } from './seen.js';
import type { SharedList } from './shared-list.js';
import { style } from './style.js';
import { english, type PanelTexts } from './texts.js';

/** Events of `<postern-inbox>`. */
export interface InboxEvents {
  /** The user chose a notification. After `preventDefault()`, the panel stays open. */
  readonly 'postern-select': CustomEvent<InboxItem>;
  /** With `tabs`, `archive` or `snooze`: the user chose an action. After `preventDefault()`, its address does not open. */
  readonly 'postern-action': CustomEvent<ActionDetail>;
  /** The number of unread notifications has changed. If `capped` is true, there are more than `count`. */
  readonly 'postern-unread': CustomEvent<{ readonly count: number; readonly capped: boolean }>;
}

/** How often an open list updates its times, in milliseconds. */
const refreshMs = 60_000;

type CreateList = (
  postern: Postern,
  options: InboxOptions | undefined,
  query: InboxViewOptions,
  features: readonly string[],
) => SharedList;
const createList: CreateList = (postern, options, query) => {
  const inbox = createInbox(postern, { stream: 'tab', ...options });
  return { inbox, view: createInboxView(postern, inbox, query), uses: 0 };
};
/** The attributes of an inbox with states. */
const featureNames = ['tabs', 'archive', 'snooze'];

/**
 * `<postern-inbox>`: a bell with the number of unread notifications and a panel with the live list, or the list alone.
 *
 * With the attribute `tabs`, `archive` or `snooze`, users mark single notifications as read or unread and choose their actions, and the
 * bell counts notifications that they have not seen on any device. `tabs` adds the archived and snoozed notifications, `archive` and
 * `snooze` add buttons.
 *
 * Parts: `bell`, `badge`, `panel`, `header`, `heading`, `list`, `day`, `item`, `item-unread`, `item-link`, `dot`, `thumbnail`, `kind`,
 * `image`, `actor`, `description`, `time`, `footer`, `empty`, `name`, `hint`, `skeleton`, `connection`, `icon`, `button`, `row`, `label`,
 * `switch`, `filter`, `issue`; with states also `tabs`, `tab`, `tools`, `choices`, `done`. Slots: `bell`, `heading`, `empty`.
 * `:state(unread)` matches the element while a notification is unread.
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
export class PosternInbox extends PosternElement<InboxEvents, PanelTexts> {
  /** @internal */
  static readonly tag = 'postern-inbox';
  /** @internal */
  static readonly style = style;
  /** @internal */
  static readonly observedAttributes = ['lang', 'layout', 'filter', 'limit', 'open', ...featureNames];

  readonly #internals = this.attachInternals();
  #filter: NotificationFilter | null = null;
  #renderItem: ((item: InboxItem) => Node | string) | null = null;
  #hrefOf: ((item: InboxItem) => string | null) | null = null;
  #unread = '';
  #togglePanel: ((isOpen: boolean) => void) | undefined;
  #showAgain: (() => void) | undefined;
  /** The list that this element shows. */
  #list:
    | { readonly key: string; readonly shared: SharedList; readonly seen: Seen; readonly end: () => void }
    | undefined;
  /** The lists of each client that elements show now: all bells of a page share one stream. */
  static readonly #lists = new WeakMap<Postern, Map<string, SharedList>>();

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

  /** Attribute `filter`, in the grammar of the service. The property also accepts conditions. */
  get filter(): NotificationFilter | null {
    return this.#filter ?? this.getAttribute('filter');
  }
  set filter(filter: NotificationFilter | null) {
    this.#filter = filter;
    this.update();
  }

  /** Attribute `limit`: the number of notifications that are loaded at once, from 1 to 100. 20 by default. */
  get limit(): number {
    const limit = Number(this.getAttribute('limit') ?? 20);
    return Number.isInteger(limit) && limit >= 1 && limit <= 100 ? limit : 20;
  }
  set limit(limit: number) {
    this.attribute('limit', limit);
  }

  /**
   * The address that an item leads to, so that its row is a link, which can also be opened in another tab. Null: a button. Addresses that
   * are not `http` or `https` are ignored.
   */
  get hrefOf(): ((item: InboxItem) => string | null) | null {
    return this.#hrefOf;
  }
  set hrefOf(hrefOf: ((item: InboxItem) => string | null) | null) {
    this.#hrefOf = hrefOf;
    this.#showAgain?.();
  }

  /** Attribute `open`: whether the panel is open. The element changes it when the user opens or closes the panel. */
  get open(): boolean {
    return this.hasAttribute('open');
  }
  set open(open: boolean) {
    this.attribute('open', open);
  }

  /**
   * Your own function that renders an item. Nodes are used unchanged, and strings are never parsed as HTML. Each item is in a button or a
   * link.
   */
  get renderItem(): ((item: InboxItem) => Node | string) | null {
    return this.#renderItem;
  }
  set renderItem(render: ((item: InboxItem) => Node | string) | null) {
    this.#renderItem = render;
    this.#showAgain?.();
  }

  /** @internal */
  override attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (name === 'open') this.#togglePanel?.(after !== null);
    else super.attributeChangedCallback(name, before, after);
  }

  /** @internal A page that moves the element closes its panel. */
  override connectedCallback(): void {
    super.connectedCallback();
    if (this.open) this.#togglePanel?.(true);
  }

  /** @internal */
  protected override options(): readonly unknown[] {
    return [this.layout, this.filter, this.limit, this.#features()];
  }

  #features = () => featureNames.filter((name) => this.hasAttribute(name));

  /** The list. It stays, with its stream, while only texts and the layout change. */
  #listOf(postern: Postern, clientSignal: AbortSignal, create: CreateList) {
    const { filter, limit, settings } = this;
    const features = this.#features();
    const key = JSON.stringify([filter, limit, settings?.inbox, features]);
    const former = this.#list;
    if (former?.key === key) return former;
    const lists = PosternInbox.#lists.get(postern) ?? new Map<string, SharedList>();
    PosternInbox.#lists.set(postern, lists);
    const shared = lists.get(key) ?? create(postern, settings?.inbox, { filter: filter ?? undefined, limit }, features);
    lists.set(key, shared);
    shared.uses += 1;
    const unsubscribe = shared.view.onChange(() => undefined);
    const end = () => {
      unsubscribe();
      shared.uses -= 1;
      if (shared.uses === 0 && lists.get(key) === shared) lists.delete(key);
    };
    former?.end();
    const list = { key, shared, end, seen: shared.seen ?? former?.seen ?? createSeen() };
    this.#list = list;
    clientSignal.addEventListener('abort', () => {
      list.end();
      if (this.#list === list) this.#list = undefined;
    });
    return list;
  }

  /** @internal */
  protected override async start(postern: Postern, signal: AbortSignal, clientSignal: AbortSignal): Promise<void> {
    let create = createList;
    // Only a page with an inbox of this kind loads its code.
    while (this.#features()[0] && create === createList) {
      try {
        create = (await import('./items.js')).createItemsList;
      } catch {
        await wait(5000, signal);
      }
      if (signal.aborted) return;
    }
    const { shared, seen } = this.#listOf(postern, clientSignal, create);
    const { view } = shared;
    const isBell = this.layout === 'bell';
    const panel = createPanel({
      ...shared,
      postern,
      signal,
      words: this.words,
      language: this.language,
      root: this.root,
      isBell,
      renderItem: () => this.#renderItem,
      hrefOf: (item) => this.#hrefOf?.(item) ?? null,
      seen,
      choose: (item) => {
        seen.open(item, view, this.filter === null);
        show(view.current);
        const isAllowed = this.emit('postern-select', item);
        if (isAllowed && isBell) panel.node.hidePopover();
        return isAllowed;
      },
      retry: () => {
        // A separate list, because other elements still use theirs.
        if (this.#list) PosternInbox.#lists.get(postern)?.delete(this.#list.key);
        this.restart();
      },
      report: (error) => void this.report(error),
      adoptStyle: (style) => this.adoptStyle(style),
      showAgain: () => show(view.current),
      placeAgain: () => bell?.place(),
      restoreTyped: () => this.restoreTyped(),
    });
    const setOpen = (isOpen: boolean) => {
      this.open = isOpen;
    };
    const bell = isBell ? createBell(panel, this.words, this.language, setOpen) : null;
    replaceContent(this.root, bell?.button, panel.node, element('p', { class: 'sr-only', role: 'status' }));
    this.#togglePanel = (isOpen) => isBell && panel.node.isConnected && panel.node.togglePopover(isOpen);
    if (this.open) this.#togglePanel(true);

    const show = (snapshot: InboxSnapshot) => {
      if (panel.isShown() && document.visibilityState === 'visible') seen.see(snapshot);
      bell?.show(seen.unseen(snapshot));
      panel.show(snapshot);
      this.#reportUnread(snapshot);
    };
    this.#showAgain = () => show(view.current);
    const unsubscribes = [view.subscribe(show), postern.onChange(() => show(view.current))];
    const timer = setInterval(() => panel.isShown() && show(view.current), refreshMs);
    signal.addEventListener('abort', () => {
      clearInterval(timer);
      for (const unsubscribe of unsubscribes) unsubscribe();
    });
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
    if (status && formerCount && count > Number(formerCount)) {
      replaceContent(status, countText(this.words.unread, count, this.language));
    }
    this.#unread = shownCount;
    this.emit('postern-unread', { count, capped });
  }
}
