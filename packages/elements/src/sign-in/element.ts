import {
  createLogin,
  type Login,
  type LoginState,
  type OfferedLogins,
  offeredLogins,
  type Postern,
} from '@postern/client';
import { h, put } from '../base/dom.js';
import { PosternElement } from '../base/element.js';
import { startView } from './start.js';
import { style } from './style.js';
import { english, type SignInTexts } from './texts.js';
import { button, type Context, card, type Detour, focusHeading, type View, type WayIn } from './views.js';

/** Events of `<postern-sign-in>`. */
export interface SignInEvents {
  /** Signed in. `preventDefault()` keeps the element from following `return-to`. */
  readonly 'postern-signed-in': CustomEvent<{ readonly user_id: string; readonly device_id: string }>;
  /** The login has another step. It contains no secrets, so it can be counted. */
  readonly 'postern-step': CustomEvent<{ readonly step: LoginState['step'] }>;
}

const pinOf = { off: 'hidden', optional: 'optional', required: 'required' } as const;

/**
 * `<postern-sign-in>`: every way to sign in that the service offers, second factors, locks, recovery and registration.
 *
 * Parts: `card`, `form`, `heading`, `field`, `label`, `input`, `code`, `button`, `button-primary`, `button-provider`, `link`, `issue`,
 * `countdown`. Slots: `logo`, `before`, `after`, `locked`, which says what to do about a lock.
 *
 * @example
 * ```ts
 * import { createPostern, indexedDbStorage } from '@postern/client';
 * import { defineSignIn } from '@postern/elements/sign-in';
 *
 * defineSignIn({ postern: createPostern({ url: 'https://auth.example.com', storage: indexedDbStorage() }) });
 * document.querySelector('postern-sign-in')?.on('postern-signed-in', () => location.assign('/'));
 * ```
 */
export class PosternSignIn extends PosternElement<SignInEvents, SignInTexts> {
  /** @internal */
  static readonly tag = 'postern-sign-in';
  /** @internal */
  static readonly style = style;
  /** @internal */
  static readonly observedAttributes = ['lang', 'ways', 'identity-types', 'pin', 'registration', 'recovery'];

  #made: { readonly postern: Postern; readonly login: Login } | undefined;
  #detour: Detour | null = null;
  readonly #typed: Context['typed'] = { identity: '', way: undefined };

  constructor() {
    super(english, { es: async () => (await import('./es.js')).spanish });
  }

  // React sets a property where an element has one, also with the text of an attribute. The setters take both.
  #list(name: string): readonly string[] {
    return (this.getAttribute(name) ?? '').split(/\s+/).filter(Boolean);
  }

  /** Attribute `ways`, separated by spaces, best first. By default all that the service offers. Others are not shown. */
  get ways(): readonly WayIn[] {
    return this.#list('ways') as readonly WayIn[];
  }
  set ways(ways: readonly WayIn[] | string) {
    this.attribute('ways', ways);
  }

  /** Attribute `identity-types`: what the first field takes, of `email`, `phone` and `username`. It changes its label. */
  get identityTypes(): readonly ('email' | 'phone' | 'username')[] {
    return this.#list('identity-types') as readonly ('email' | 'phone' | 'username')[];
  }
  set identityTypes(types: readonly ('email' | 'phone' | 'username')[]) {
    this.attribute('identity-types', types);
  }

  /** Attribute `pin`. By default the rule of the service. */
  get pin(): 'hidden' | 'optional' | 'required' | null {
    const pin = this.getAttribute('pin');
    return pin === 'hidden' || pin === 'optional' || pin === 'required' ? pin : null;
  }
  set pin(pin: 'hidden' | 'optional' | 'required' | null) {
    this.attribute('pin', pin);
  }

  /** Attribute `registration`: `off` does not offer it. By default it is offered if the service allows it. */
  get registration(): boolean {
    return this.getAttribute('registration') !== 'off';
  }
  set registration(isOffered: boolean | 'off') {
    this.attribute('registration', isOffered === true ? null : 'off');
  }

  /** Attribute `recovery`: `off` does not offer it. By default it is offered if the service can send codes. */
  get recovery(): boolean {
    return this.getAttribute('recovery') !== 'off';
  }
  set recovery(isOffered: boolean | 'off') {
    this.attribute('recovery', isOffered === true ? null : 'off');
  }

  /** Attribute `return-to`: a path of this origin to open after the login. Others are ignored. */
  get returnTo(): string | null {
    return this.getAttribute('return-to');
  }
  set returnTo(path: string | null) {
    this.attribute('return-to', path);
  }

  /** The step of the login. */
  get state(): LoginState {
    return this.#loginOf(this.postern).current;
  }

  #loginOf(postern: Postern | null): Login {
    if (this.#made === undefined || (postern !== null && this.#made.postern !== postern)) {
      const client = postern as Postern;
      this.#made = { postern: client, login: createLogin(client, { resume: true }) };
    }
    return this.#made.login;
  }

  /** @internal */
  protected override start(postern: Postern, signal: AbortSignal): void {
    const { words } = this;
    const place = h('slot', { class: 'full' }, h('p', { class: 'muted', role: 'status' }, words.loading));
    const frame = h('div', {}, place);
    put(this.root, h('slot', { name: 'logo' }), frame, h('slot', { name: 'after' }));
    void this.#load(postern, frame, signal);
  }

  async #load(postern: Postern, frame: HTMLElement, signal: AbortSignal): Promise<void> {
    try {
      const offered = await offeredLogins(postern, { signal });
      if (!signal.aborted) this.#follow(postern, offered, frame, signal);
    } catch (error) {
      if (signal.aborted || this.report(error) === null) return;
      const { words } = this;
      const issue = h('p', { class: 'issue', part: 'issue', role: 'alert' }, words.offline);
      put(
        frame,
        card(
          words.sign_in,
          issue,
          button(words.try_again, () => this.restart()),
        ),
      );
    }
  }

  /** Shows the view of each state of the client and of the login. */
  #follow(postern: Postern, offered: OfferedLogins, frame: HTMLElement, signal: AbortSignal): void {
    const login = this.#loginOf(postern);
    let key = '';
    let view: View | undefined;
    let life = new AbortController();
    let notice: string | undefined;
    let round = 0;

    const show = () => {
      const { current: state } = login;
      const { status } = postern.current;
      if (status === 'starting') return;
      const isInside = status !== 'signed_out';
      const name = isInside ? status : (this.#detour ?? `${state.step} ${round}`);
      if (name === key) {
        if (!isInside && this.#detour === null) view?.update?.(state);
        return;
      }
      const isFirst = key === '';
      const hadFocus = this.root.activeElement !== null;
      key = name;
      life.abort();
      life = new AbortController();
      const context = this.#context(postern, login, offered, AbortSignal.any([signal, life.signal]), go);
      view = this.#viewOf(name, context, state, notice);
      notice = undefined;
      put(frame, view.node);
      // A page that has just loaded keeps its focus.
      if (!isFirst && hadFocus) view.focus();
    };
    const go: Context['go'] = (detour, text) => {
      this.#detour = detour;
      notice = text;
      round += 1;
      show();
    };
    const onStep = (state: LoginState, before: LoginState) => {
      if (state.step !== before.step) {
        // After the last step, the next login begins by itself.
        if (before.step !== 'done') this.emit('postern-step', { step: state.step });
        this.#detour = null;
      }
      if (state.step === 'done') this.#done(state, login);
      show();
    };
    const ends = [login.onChange(onStep), postern.subscribe(show)];
    signal.addEventListener('abort', () => {
      life.abort();
      for (const end of ends) end();
    });
  }

  #viewOf(name: string, context: Context, state: LoginState, notice: string | undefined): View {
    const { words, postern } = context;
    if (name === 'signed_in' || name === 'suspended') {
      const text = h('p', { class: 'muted' }, name === 'signed_in' ? words.signed_in : words.suspended);
      const slot = name === 'suspended' ? h('slot', { name: 'locked' }, text) : text;
      const node = card(
        words.sign_in,
        slot,
        button(words.sign_out, () => void postern.logOut()),
      );
      return { node, focus: () => focusHeading(node) };
    }
    const detour = this.#detour;
    if (detour !== null) {
      return this.#later(context, async () => (await import('./detours.js')).detourView(context, detour));
    }
    if (state.step === 'start' || state.step === 'done') {
      return startView(context, state.step === 'start' ? state : context.login.start(), notice);
    }
    return this.#later(context, async () => {
      const { stepView } = await import('./steps.js');
      const { current } = context.login;
      return current.step === 'start' || current.step === 'done' ? null : stepView(context, current);
    });
  }

  /** The views after the first one are loaded when they are shown. */
  #later(context: Context, load: () => Promise<View | null>): View {
    const { words, go } = context;
    const node = card(words.sign_in, h('p', { class: 'muted', role: 'status' }, words.loading));
    let loaded: View | null = null;
    load().then(
      (next) => {
        if (context.signal.aborted || next === null) return;
        loaded = next;
        const hadFocus = node.contains(this.root.activeElement);
        node.replaceWith(next.node);
        if (hadFocus) next.focus();
      },
      () => go(null, words.offline),
    );
    return {
      node,
      update: (changed) => loaded?.update?.(changed),
      focus: () => (loaded ?? { focus: () => focusHeading(node) }).focus(),
    };
  }

  #context(postern: Postern, login: Login, offered: OfferedLogins, signal: AbortSignal, go: Context['go']): Context {
    const { oidc } = this.settings ?? {};
    const names = offered.logins.map(({ authenticator }) => authenticator);
    const wanted = this.ways.length > 0 ? this.ways.filter((way) => names.includes(way)) : names;
    const types = offered.logins.find(({ authenticator }) => authenticator === 'password')?.identity_types ?? [];
    return {
      ...{ words: this.words, language: this.language, postern, login, offered, signal, go, oidc },
      ways: wanted.filter((way) => oidc !== undefined || !way.startsWith('oidc:')),
      identityTypes: this.identityTypes.length > 0 ? this.identityTypes : types,
      pin: this.pin ?? pinOf[offered.pin.policy] ?? 'hidden',
      registration: this.registration && offered.registration.is_on,
      recovery: this.recovery && offered.recovery.identity_types.length > 0,
      typed: this.#typed,
      report: (error) => void this.report(error),
    };
  }

  #done({ user_id, device_id }: Extract<LoginState, { step: 'done' }>, login: Login): void {
    this.#typed.identity = '';
    login.start();
    const goesOn = this.emit('postern-signed-in', { user_id, device_id });
    const path = this.returnTo;
    if (!goesOn || path === null || !URL.canParse(path, location.href)) return;
    const target = new URL(path, location.href);
    if (target.origin === location.origin && path.startsWith('/')) location.assign(target);
  }
}
