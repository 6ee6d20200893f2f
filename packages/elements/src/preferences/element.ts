import {
  createPreferences,
  type Postern,
  type PreferenceChanges,
  type Preferences,
  type PreferencesSnapshot,
  type PreferencesStore,
} from '@postern/client';
import { loadPart } from '@postern/client/internal';
import { element, replaceContent } from '../base/dom.js';
import { PosternElement } from '../base/element.js';
import { smallButton } from '../base/small-button.js';
import { createSections } from './sections.js';
import { style } from './style.js';
import { english, type PreferencesTexts } from './texts.js';
import type { Subscription, TopicsOptions } from './topics.js';

/** Events of `<postern-preferences>`. */
export interface PreferencesEvents {
  /** Postern has saved a change of the user. */
  readonly 'postern-changed': CustomEvent<PreferenceChanges>;
  /** The user has joined or left a topic. */
  readonly 'postern-subscription': CustomEvent<Subscription>;
}

/**
 * `<postern-preferences>`: lets users choose what they are notified about, and where, and join and leave topics. Each change is saved at once, and undone if the service
 * refuses it.
 *
 * Parts: `section`, `heading`, `list`, `row`, `name`, `value`, `warning`, `head`, `cells`, `cell`, `label`, `switch`, `select`, `input`,
 * `checkbox`, `icon`, `link`, `button`, `hint`, `skeleton`, `issue`.
 *
 * @example
 * ```ts
 * import { createPostern, indexedDbStorage } from '@postern/client';
 * import { definePreferences } from '@postern/elements/preferences';
 *
 * definePreferences({ postern: createPostern({ url: 'https://auth.example.com', storage: indexedDbStorage() }) });
 * document.querySelector('postern-preferences')?.on('postern-changed', ({ detail }) => console.log(detail.categories));
 * ```
 */
export class PosternPreferences extends PosternElement<PreferencesEvents, PreferencesTexts> {
  /** @internal */
  static readonly tag = 'postern-preferences';
  /** @internal */
  static readonly style = style;
  /** @internal */
  static readonly observedAttributes = ['lang', 'account-url'];

  /** The preferences of the client. They stay while only texts change. */
  #store: { readonly postern: Postern; readonly preferences: PreferencesStore } | undefined;

  constructor() {
    super(english, { es: async () => (await import('./es.js')).spanish });
  }

  /** Attribute `account-url`: where users add and confirm addresses, such as a page with `<postern-account>`. Without it there is no link. */
  get accountUrl(): string | null {
    return this.getAttribute('account-url');
  }
  set accountUrl(url: string | null) {
    this.attribute('account-url', url);
  }

  /** @internal */
  protected override options(): readonly unknown[] {
    return [this.accountUrl];
  }

  /** @internal */
  protected override start(postern: Postern, signal: AbortSignal, clientSignal: AbortSignal): void {
    const { words, language, accountUrl } = this;
    if (this.#store?.postern !== postern) this.#store = { postern, preferences: createPreferences(postern) };
    const { preferences } = this.#store;
    // The store is not read again while the view is built again.
    const keep = preferences.onChange(() => undefined);
    clientSignal.addEventListener('abort', keep);

    const content = element('div', { class: 'sections' }, ...skeleton(words));
    const problem = element('div', { role: 'alert' });
    const status = element('p', { class: 'sr-only', role: 'status' });
    // Topics are below the rest, because they are read later.
    const topicsNode = element('div', { class: 'topics' });
    replaceContent(this.root, element('div', { class: 'page' }, content, topicsNode, problem, status));
    const change = async (changes: PreferenceChanges) => {
      status.textContent = '';
      if (!(await preferences.change(changes))) return;
      this.emit('postern-changed', changes);
      if (!signal.aborted) replaceContent(status, words.saved);
    };
    let sections: ReturnType<typeof createSections> | undefined;
    let reported: unknown = null;
    const topics = topicsIn(topicsNode, signal, {
      postern,
      words,
      change,
      onError: (error) => this.report(error),
      onSubscription: (detail) => {
        this.emit('postern-subscription', detail);
        if (!signal.aborted) replaceContent(status, words.saved);
      },
    });

    const show = ({ preferences: shown, loading, error, changeError }: PreferencesSnapshot) => {
      const failure = changeError ?? error;
      if (failure !== null && failure !== reported) this.report(failure);
      reported = failure;
      showProblem(problem, { changeError, error: shown === null ? null : error, words, retry: preferences.reload });
      if (shown !== null) {
        sections ??= createSections({ words, language, accountUrl, content, change });
        sections.show(shown);
        topics.show(shown);
        this.restoreTyped();
        return;
      }
      sections = undefined;
      topics.clear();
      const isSignedOut = postern.current.status === 'signed_out';
      if (isSignedOut) replaceContent(content, note(words.signed_out));
      else if (error !== null && !loading) {
        const retry = () => {
          replaceContent(content, ...skeleton(words));
          void preferences.reload();
        };
        replaceContent(
          content,
          element(
            'p',
            { class: 'issue', part: 'issue', role: 'alert' },
            words.not_loaded,
            ' ',
            smallButton(words.try_again, retry),
          ),
        );
      } else replaceContent(content, ...skeleton(words));
    };
    const ends = [preferences.subscribe(show), postern.onChange(() => show(preferences.current))];
    signal.addEventListener('abort', () => {
      for (const end of ends) end();
    });
  }
}

interface Section {
  readonly end: AbortController;
  preferences: Preferences;
  update?: (preferences: Preferences) => void;
}

/** The section of topics, whose code is loaded when there are preferences to show. */
function topicsIn(
  container: HTMLElement,
  signal: AbortSignal,
  options: Omit<TopicsOptions, 'container' | 'signal'>,
): { show(preferences: Preferences): void; clear(): void } {
  let current: Section | undefined;
  async function open(section: Section): Promise<void> {
    const part = await loadPart(() => import('./topics.js')).catch(options.onError);
    const { signal: ended } = section.end;
    if (!part || ended.aborted) return;
    section.update = part.createTopicsSection({ ...options, container, signal: ended });
    section.update(section.preferences);
  }
  const clear = () => {
    current?.end.abort();
    current = undefined;
    replaceContent(container);
  };
  signal.addEventListener('abort', () => current?.end.abort());
  return {
    show(preferences) {
      if (current !== undefined) {
        current.preferences = preferences;
        current.update?.(preferences);
        return;
      }
      current = { end: new AbortController(), preferences };
      void open(current);
    },
    clear,
  };
}

const note = (text: string) => element('p', { class: 'muted', part: 'hint', role: 'status' }, text);

/** The shape of the page while the preferences are read. */
function skeleton(words: PreferencesTexts): HTMLElement[] {
  const section = () =>
    element(
      'div',
      { class: 'waiting', part: 'list' },
      ...['short', 'tall'].map((name) => element('i', { class: `skeleton ${name}`, part: 'skeleton' })),
    );
  return [element('span', { class: 'sr-only', role: 'status' }, words.loading), section(), section()];
}

/** Says why the last change or read failed, where the user sees it also at the end of a long page. */
function showProblem(
  node: HTMLElement,
  {
    changeError,
    error,
    words,
    retry,
  }: Pick<PreferencesSnapshot, 'changeError' | 'error'> & {
    readonly words: PreferencesTexts;
    readonly retry: () => unknown;
  },
): void {
  const isRefused = changeError?.kind === 'problem' && changeError.code === 'validation_failed';
  const text = changeError === null ? words.not_loaded : isRefused ? words.refused : words.not_saved;
  const key = changeError === null && error === null ? '' : text;
  if (node.dataset.shown === key) return;
  node.dataset.shown = key;
  const button = changeError === null && smallButton(words.try_again, retry);
  replaceContent(
    node,
    key !== '' && element('p', { class: 'issue problem', part: 'issue' }, text, button && ' ', button),
  );
}
