import { isPosternError, type Postern, type PosternError, type Unsubscribe } from '@postern/client';
import { UsageError } from '@postern/client/internal';
import { languageOf } from './language.js';
import type { DefineOptions } from './options.js';
import type { Languages, Words } from './texts.js';

/** Events of every element. */
export interface BaseEvents {
  /** The first view is shown. */
  readonly 'postern-ready': CustomEvent<null>;
  /** Something failed. The element shows it as well. */
  readonly 'postern-error': CustomEvent<PosternError>;
}

type DetailOf<E> = E extends CustomEvent<infer D> ? D : never;

// On a server there is no HTMLElement. There, the classes can be imported, but not instantiated.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** What a user has typed and where the cursor is, while a view is built again. */
interface Typed {
  readonly values: ReadonlyMap<string, string>;
  /** The control that has the focus: a selector, and which of its matches. */
  readonly focus: readonly [selector: string, index: number] | undefined;
  readonly selection: readonly [start: number | null, end: number | null];
}

/**
 * The base class of all elements: a shadow root, and texts in the language of the page. If the texts or options change, it builds the view
 * again, and keeps the input, the focus and the data of the client. If the client changes, it starts from the beginning.
 */
export abstract class PosternElement<Events extends object, W extends Words> extends Base {
  /** @internal The options of `defineElements`, and the style sheets. */
  static settings: (DefineOptions & { readonly sheets: readonly CSSStyleSheet[] }) | undefined;

  /** @internal */
  protected readonly root: ShadowRoot;
  /** @internal The texts of the current language. Set before `start`. */
  protected words: W;
  /** @internal BCP 47 */
  protected language = 'en';
  #postern: Postern | null = null;
  #texts: Partial<W> = {};
  #client: { readonly postern: Postern; readonly controller: AbortController } | undefined;
  #viewController = new AbortController();
  /** The language, texts and options that are shown. */
  #shown = '';
  #typed: Typed | undefined;
  #focused: HTMLElement | null = null;
  readonly #adoptedStyles = new Set<string>();
  #isReady = false;

  constructor(
    private readonly english: W,
    private readonly languages: Languages<W>,
  ) {
    super();
    this.words = english;
    this.root = this.attachShadow({ mode: 'open' });
    this.root.adoptedStyleSheets = [...(this.settings?.sheets ?? [])];
    this.root.addEventListener('focusin', ({ target }) => {
      this.#focused = target as HTMLElement;
    });
  }

  /** @internal */
  protected get settings() {
    return (this.constructor as typeof PosternElement).settings;
  }

  /** The client of this element. By default that of `defineElements`. */
  get postern(): Postern | null {
    return this.#postern ?? this.settings?.postern ?? null;
  }
  set postern(postern: Postern | null) {
    this.#postern = postern;
    this.update();
  }

  /** Texts of this element only. They replace all other texts. */
  get texts(): Partial<W> {
    return this.#texts;
  }
  set texts(texts: Partial<W>) {
    this.#texts = texts;
    this.update();
  }

  /**
   * Adds a listener, like `addEventListener`, but knows the types of the element's events. Events bubble and cross shadow roots.
   * @returns a function that removes the listener
   */
  on<K extends keyof (Events & BaseEvents) & string>(
    type: K,
    listener: (event: (Events & BaseEvents)[K]) => unknown,
    options?: AddEventListenerOptions,
  ): Unsubscribe {
    const handler = (event: Event) => void listener(event as (Events & BaseEvents)[K] & Event);
    this.addEventListener(type, handler, options);
    return () => this.removeEventListener(type, handler, options);
  }

  /** @internal */
  connectedCallback(): void {
    // Properties that a page set before the element was defined hide the accessors.
    for (const name of Object.keys(this)) {
      const descriptor = Object.getOwnPropertyDescriptor(this, name);
      if (!(name in Object.getPrototypeOf(this)) || !descriptor?.writable) continue;
      Reflect.deleteProperty(this, name);
      Reflect.set(this, name, descriptor.value);
    }
    this.update();
  }

  /** @internal */
  disconnectedCallback(): void {
    const focused = this.#focused;
    // A page that moves the element connects it again at once.
    queueMicrotask(() => {
      if (!this.isConnected) this.#end();
      else if (this.ownerDocument.activeElement === this.ownerDocument.body) focused?.focus();
    });
  }

  #end(): void {
    this.#client?.controller.abort();
    this.#client = undefined;
    this.#viewController.abort();
    this.#shown = '';
    this.#typed = undefined;
  }

  /** @internal */
  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (before !== after && this.#client !== undefined) this.update();
  }

  /** @internal The values that the view is built from, besides texts. Compared as JSON. */
  protected abstract options(): readonly unknown[];

  /** @internal Resolves when the view may be replaced, such as after a dialog has closed. */
  protected whenReplaceable(): Promise<unknown> {
    return Promise.resolve();
  }

  /** @internal Starts with the client from the beginning. */
  protected restart(): void {
    this.#end();
    this.update();
  }

  /** @internal Builds the view if the client, the language, the texts or the options have changed. */
  protected update(): void {
    if (!this.isConnected) return;
    const { postern } = this;
    if (postern === null) throw new UsageError('Call defineElements({ postern }), or set `postern`.');
    if (this.#client?.postern !== postern) {
      this.#end();
      this.#client = { postern, controller: new AbortController() };
    }
    const { signal } = (this.#client as { controller: AbortController }).controller;
    const language = languageOf(this);
    const shown = JSON.stringify([language, Object.entries(this.#texts).sort(), this.options()]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const { english, languages } = this;
    const own = this.settings?.texts;
    // English without texts of the page needs no other file. If it cannot be loaded, the element must appear even so.
    const words: Promise<W> =
      own === undefined && /^en\b/.test(language)
        ? Promise.resolve(english)
        : import('./words.js').then(
            ({ wordsOf }) => wordsOf(language, english, languages, own, this.localName.slice(8)),
            () => english,
          );
    void Promise.all([words, this.whenReplaceable()]).then(([words]) => {
      if (signal.aborted || shown !== this.#shown) return;
      this.language = language;
      this.words = { ...words, ...this.#texts };
      if (!this.#viewController.signal.aborted) this.#typed = this.#readTyped();
      this.#viewController.abort();
      this.#viewController = new AbortController();
      this.start(postern, this.#viewController.signal, signal);
      this.restoreTyped();
      if (!this.#isReady) this.emit('postern-ready', null as DetailOf<(Events & BaseEvents)['postern-ready']>);
      this.#isReady = true;
    });
  }

  #readTyped(): Typed {
    const inputs = [...this.root.querySelectorAll('input')];
    const focused = this.root.activeElement;
    const [key, name] = ['data-key', 'name'].map((attribute) => focused?.getAttribute(attribute));
    const selector = key ? `[data-key="${CSS.escape(key)}"]` : name ? `[name="${name}"]` : focused?.localName;
    return {
      values: new Map(inputs.flatMap(({ name, value }) => (name && value ? [[name, value] as const] : []))),
      focus: selector ? [selector, [...this.root.querySelectorAll(selector)].indexOf(focused as Element)] : undefined,
      selection: focused instanceof HTMLInputElement ? [focused.selectionStart, focused.selectionEnd] : [null, null],
    };
  }

  /** @internal Restores the input and the cursor in the new view. Views that are loaded later call it too. */
  protected restoreTyped(): void {
    const typed = this.#typed;
    const inputs = [...this.root.querySelectorAll('input')];
    const [selector, index] = typed?.focus ?? [];
    const target = selector ? this.root.querySelectorAll<HTMLElement>(selector)[index ?? 0] : undefined;
    if (typed === undefined || (target === undefined && inputs.length === 0)) return;
    this.#typed = undefined;
    for (const input of inputs) {
      const value = typed.values.get(input.name);
      if (value !== undefined) input.value = value;
    }
    target?.focus();
    const [start, end] = typed.selection;
    // Fields for addresses have no selection.
    if (target instanceof HTMLInputElement && start !== null) target.setSelectionRange(start, end);
  }

  /** @internal Adds the style of a view that is loaded later. */
  protected adoptStyle(style: string): void {
    if (this.#adoptedStyles.has(style)) return;
    this.#adoptedStyles.add(style);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    this.root.adoptedStyleSheets.push(sheet);
  }

  /**
   * @internal Builds the view.
   *
   * @param signal aborts when the view is built again
   * @param clientSignal aborts when the element leaves the page or gets another client
   */
  protected abstract start(postern: Postern, signal: AbortSignal, clientSignal: AbortSignal): void;

  /** @internal @returns false if a listener called `preventDefault` */
  protected emit<K extends keyof (Events & BaseEvents) & string>(
    type: K,
    detail: DetailOf<(Events & BaseEvents)[K]>,
  ): boolean {
    return this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true }));
  }

  /** @internal Reports an error of the client. All other errors are bugs of this package and go to the console. */
  protected report(error: unknown): PosternError | null {
    if (!isPosternError(error) || error.kind === 'usage') {
      reportError(error);
      return null;
    }
    this.emit('postern-error', error as DetailOf<(Events & BaseEvents)['postern-error']>);
    return error;
  }

  /** @internal */
  protected attribute(name: string, value: string | number | boolean | readonly string[] | null): void {
    if (value === null || value === false) this.removeAttribute(name);
    else this.setAttribute(name, value === true ? '' : Array.isArray(value) ? value.join(' ') : `${value}`);
  }
}
