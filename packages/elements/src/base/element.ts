import { isPosternError, type Postern, type PosternError, type Unsubscribe } from '@postern/client';
import { UsageError } from '@postern/client/internal';
import type { DefineOptions } from './options.js';
import { type Languages, languageOf, type Words, wordsOf } from './texts.js';

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

/** The base class of all elements: a shadow root, texts in the language of the page, and a signal that ends each view. */
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
  #viewController: AbortController | undefined;
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
    this.restart();
  }

  /** Texts of this element only. They replace all other texts. */
  get texts(): Partial<W> {
    return this.#texts;
  }
  set texts(texts: Partial<W>) {
    this.#texts = texts;
    this.restart();
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
    this.restart();
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#viewController?.abort();
    this.#viewController = undefined;
  }

  /** @internal */
  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (before !== after && this.#viewController !== undefined) this.restart();
  }

  /** @internal Builds the view again, in the current language of the page. */
  protected restart(): void {
    if (!this.isConnected) return;
    this.#viewController?.abort();
    const controller = new AbortController();
    this.#viewController = controller;
    const { postern } = this;
    if (postern === null) throw new UsageError('Call defineElements({ postern }), or set `postern`.');
    this.language = languageOf(this);
    void wordsOf(this.language, this.english, this.languages, this.settings?.texts).then((words) => {
      if (controller.signal.aborted) return;
      this.words = { ...words, ...this.#texts };
      this.start(postern, controller.signal);
      if (!this.#isReady) this.emit('postern-ready', null as DetailOf<(Events & BaseEvents)['postern-ready']>);
      this.#isReady = true;
    });
  }

  /** @internal Adds the style of a view that is loaded later. */
  protected adoptStyle(style: string): void {
    if (this.#adoptedStyles.has(style)) return;
    this.#adoptedStyles.add(style);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    this.root.adoptedStyleSheets.push(sheet);
  }

  /** @internal Builds the view, until the signal aborts. */
  protected abstract start(postern: Postern, signal: AbortSignal): void;

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
