import {
  createLogin,
  type Login,
  type LoginDone,
  type LoginState,
  type OfferedLogins,
  offeredLogins,
  type Postern,
} from '@postern/client';
import { anySignal, coreOf, holdLogin, type LoginHold } from '@postern/client/internal';
import { element, replaceContent } from '../base/dom.js';
import { PosternElement } from '../base/element.js';
import { textOf } from '../base/error-text.js';
import { startView } from './start.js';
import { style } from './style.js';
import { english, type StartTexts } from './texts.js';
import {
  type Authenticator,
  button,
  type Context,
  card,
  type Flow,
  type FlowMachines,
  focusHeading,
  isProvider,
  type SignInInput,
  type View,
} from './views.js';

/** Events of `<postern-sign-in>`. */
export interface SignInEvents {
  /** The user has signed in. After `preventDefault()`, the element does not open `return-to`. */
  readonly 'postern-signed-in': CustomEvent<{ readonly user_id: string; readonly device_id: string }>;
  /** The login has another step. The event contains no secrets, so you can send it to a service that counts events. */
  readonly 'postern-step': CustomEvent<{ readonly step: LoginState['step'] }>;
}

/** The key under which the browser stores the authenticator that it used last. This is no secret. */
const lastAuthenticatorKey = 'postern.way';

/**
 * `<postern-sign-in>`: every way to sign in that the service offers, accounts at providers, guests, second factors, locks, recovery and
 * registration.
 *
 * Parts: `card`, `form`, `heading`, `field`, `label`, `input`, `code`, `hint`, `button`, `button-primary`, `button-provider`,
 * `button-reveal`, `mark`, `icon`, `tag`, `link`, `divider`, `identity`, `notice`, `issue`, `countdown`, `qr`, `secret`, `recovery-codes`,
 * `recovery-code`. Slots: `logo`, `before`, `after`, and `locked`, for the text that users see if their account is locked.
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
export class PosternSignIn extends PosternElement<SignInEvents, StartTexts> {
  /** @internal */
  static readonly tag = 'postern-sign-in';
  /** @internal */
  static readonly style = style;
  /** @internal */
  static readonly observedAttributes = ['lang', 'ways', 'identity-types', 'pin', 'registration', 'recovery'];

  #clientLogin: { readonly postern: Postern; readonly login: Login } | undefined;
  #offered: OfferedLogins | undefined;
  #flow: Flow | null = null;
  #flows: FlowMachines = {};
  /** The guest who is signed in, and whether this guest signs in to an account or registers. */
  #guestId: string | null = null;
  #guestContinues = false;
  /** Lets a login continue that waits until the flow `address` ends. */
  #endAddress: () => void = () => undefined;
  /** Hides the login at a provider from the app until the user has answered the question for an address. */
  #hold: LoginHold | undefined;
  readonly #input: SignInInput = {
    identity: '',
    authenticator: undefined,
    page: 'identity',
    usedAuthenticator: undefined,
    lastAuthenticator: null,
  };

  constructor() {
    super(english, { es: async () => (await import('./es.js')).spanish });
  }

  /** The words of an attribute. */
  #listAttribute(name: string): readonly string[] {
    return (this.getAttribute(name) ?? '').split(/\s+/).filter(Boolean);
  }

  /**
   * Attribute `ways`, separated by spaces, best first. By default all that the service offers. Authenticators that it does not
   * offer are not shown. The property also accepts the text of the attribute, because React sets properties with such texts.
   */
  get ways(): readonly Authenticator[] {
    return this.#listAttribute('ways') as readonly Authenticator[];
  }
  set ways(ways: readonly Authenticator[] | string) {
    this.attribute('ways', ways);
  }

  /** Attribute `identity-types`: which of `email`, `phone` and `username` the first field accepts. Its label names them. */
  get identityTypes(): readonly ('email' | 'phone' | 'username')[] {
    return this.#listAttribute('identity-types') as readonly ('email' | 'phone' | 'username')[];
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

  /** Attribute `return-to`: a path of this origin to open after the login. URLs of other origins are ignored. */
  get returnTo(): string | null {
    return this.getAttribute('return-to');
  }
  set returnTo(path: string | null) {
    this.attribute('return-to', path);
  }

  /** Attribute `identity`: what the first field contains at its start, such as the address that the user has typed before. */
  get identity(): string | null {
    return this.getAttribute('identity');
  }
  set identity(identity: string | null) {
    this.attribute('identity', identity);
  }

  /** The step of the login. */
  get state(): LoginState {
    return this.#loginOf(this.postern).current;
  }

  #loginOf(postern: Postern | null): Login {
    if (this.#clientLogin === undefined || (postern !== null && this.#clientLogin.postern !== postern)) {
      const client = postern as Postern;
      this.#clientLogin = { postern: client, login: createLogin(client, { resume: true }) };
    }
    return this.#clientLogin.login;
  }

  /** @internal */
  protected override options(): readonly unknown[] {
    return [this.ways, this.identityTypes, this.pin, this.registration, this.recovery];
  }

  /** @internal */
  protected override start(postern: Postern, signal: AbortSignal, clientSignal: AbortSignal): void {
    const { words } = this;
    this.#input.identity ||= this.identity ?? '';
    clientSignal.addEventListener('abort', () => {
      this.#offered = undefined;
      this.#flows = {};
      // After the page has removed the element, nobody can answer the question for an address.
      if (this.#flow === 'address') this.#flow = null;
      this.#release();
      this.#endAddress();
    });
    const loading = element(
      'slot',
      { class: 'full' },
      element('p', { class: 'muted', part: 'hint', role: 'status' }, words.loading),
    );
    const container = element('div', {}, loading);
    const check = element('p', { class: 'check muted small', part: 'hint', role: 'status' });
    replaceContent(this.root, element('slot', { name: 'logo' }), container, check, element('slot', { name: 'after' }));
    const core = coreOf(postern);
    core.humanCheckListeners ??= new Set();
    const { humanCheckListeners: listeners } = core;
    const onCheck = (isWorking: boolean) =>
      void import('./human-check.js').then(
        ({ showCheck }) => showCheck(check, isWorking, words),
        () => undefined,
      );
    listeners.add(onCheck);
    signal.addEventListener('abort', () => listeners.delete(onCheck));
    if (this.#offered !== undefined) this.#showStates(postern, this.#offered, container, signal);
    else void this.#load(postern, container, signal);
  }

  async #load(postern: Postern, container: HTMLElement, signal: AbortSignal): Promise<void> {
    try {
      const { marks } = coreOf(postern);
      const [offered, guest, lastAuthenticator, registration, recovery] = await Promise.all([
        offeredLogins(postern, { signal }),
        ...['postern.guest', lastAuthenticatorKey, 'postern.registration', 'postern.recovery'].map((key) =>
          marks.get(key),
        ),
      ]);
      // The flow that waited for a code when the page was closed.
      const open = JSON.parse(registration ?? recovery ?? 'null');
      if (open?.expiresAt > Date.now())
        this.#flow = registration ? 'register' : `recover_${open.request.purpose as 'pin'}`;
      this.#input.lastAuthenticator = lastAuthenticator ?? null;
      if (guest) this.#guestId = await (await import('./guest.js')).idOfGuest(postern, signal);
      if (signal.aborted) return;
      this.#offered = offered;
      this.#showStates(postern, offered, container, signal);
    } catch (error) {
      const reported = signal.aborted ? null : this.report(error);
      if (reported === null) return;
      const { words } = this;
      const text = await textOf(reported, words);
      if (signal.aborted) return;
      const issue = element('p', { class: 'issue', part: 'issue', role: 'alert' }, text);
      replaceContent(
        container,
        card(
          words.sign_in,
          issue,
          button(words.try_again, () => this.restart()),
        ),
      );
    }
  }

  /** Shows the view of each state of the client and of the login. */
  #showStates(postern: Postern, offered: OfferedLogins, container: HTMLElement, signal: AbortSignal): void {
    const login = this.#loginOf(postern);
    let shownViewName = '';
    let view: View | undefined;
    let viewController = new AbortController();
    let nextNotice: string | undefined;
    let flowChanges = 0;

    const show = () => {
      const { current: state } = login;
      const { status } = postern.current;
      if (status === 'starting') return;
      const isSignedOut = status === 'signed_out' && !this.#hold?.isWithheld();
      if (isSignedOut) {
        this.#guestId = null;
        if (this.#flow === 'address') this.#flow = null;
        this.#endAddress = () => undefined;
      }
      const isForGuest = status === 'signed_in' && postern.current.user_id === this.#guestId;
      const isAsking = status !== 'suspended' && this.#flow === 'address';
      // The app does not know of this login yet. The question for an address comes next.
      if (status === 'signed_out' && !isSignedOut && !isAsking) return;
      const isLoggedIn = status !== 'signed_out' && !(isForGuest && this.#guestContinues) && !isAsking;
      const hasCodes = state.step === 'done' && state.recovery_codes;
      const shownStatus = isForGuest ? 'guest' : status;
      const viewName = isLoggedIn && !hasCodes ? shownStatus : (this.#flow ?? `${state.step} ${flowChanges}`);
      if (viewName === shownViewName) {
        if (!isLoggedIn && this.#flow === null) view?.update?.(state);
        return;
      }
      const isFirst = shownViewName === '';
      const hadFocus = this.root.activeElement !== null;
      shownViewName = viewName;
      viewController.abort();
      viewController = new AbortController();
      const context = this.#context(postern, login, offered, anySignal(signal, viewController.signal), showFlow);
      view = this.#viewOf(viewName, context, state, nextNotice);
      nextNotice = undefined;
      replaceContent(container, view.node);
      // A page that has just loaded keeps its focus.
      if (!isFirst && hadFocus) view.focus();
    };
    const showFlow: Context['showFlow'] = (flow, text) => {
      this.#flow = flow;
      nextNotice = text;
      flowChanges += 1;
      show();
    };
    const onStep = (state: LoginState, previous: LoginState) => {
      if (state.step !== previous.step) {
        // After `done`, the element itself starts the next login. This is no step of the user, so it has no event.
        if (previous.step !== 'done') this.emit('postern-step', { step: state.step });
        this.#flow = null;
      }
      if (state.step === 'redirect') this.#input.usedAuthenticator = state.authenticator;
      // The app may replace this element when it learns of the login. So it learns of it after the question for an address.
      if (state.step === 'redirect') this.#hold ??= holdLogin(coreOf(postern));
      else if (previous.step === 'redirect' && (state.step !== 'done' || state.recovery_codes)) this.#release();
      if (state.step === 'done' && !state.recovery_codes) {
        login.start();
        this.#finish(state, postern, this.#input.usedAuthenticator);
      }
      show();
    };
    const unsubscribes = [login.onChange(onStep), postern.subscribe(show)];
    void login.resumeRedirect();
    signal.addEventListener('abort', () => {
      viewController.abort();
      for (const unsubscribe of unsubscribes) unsubscribe();
    });
  }

  #viewOf(name: string, context: Context, state: LoginState, notice: string | undefined): View {
    const { words, postern } = context;
    if (name === 'signed_in' || name === 'suspended') {
      const isSuspended = name === 'suspended';
      const text =
        isSuspended &&
        element('slot', { name: 'locked' }, element('p', { class: 'muted', part: 'hint' }, words.suspended));
      const node = card(
        isSuspended ? words.sign_in : words.signed_in,
        text,
        button(words.sign_out, () => void postern.logOut()),
      );
      return { node, focus: () => focusHeading(node) };
    }
    if (name === 'guest') {
      const onContinue = () => {
        this.#guestContinues = true;
        context.showFlow(null);
      };
      return this.#viewLoadedLater(context, async () => (await import('./guest.js')).guestView(context, onContinue));
    }
    const flow = this.#flow;
    if (flow === 'address') {
      return this.#viewLoadedLater(context, async () => {
        const part = await import('./address.js').catch(() => undefined);
        // If the code cannot be loaded, the login ends without the question.
        if (part === undefined) context.leaveAddress();
        return part?.addressView(context) ?? null;
      });
    }
    if (flow !== null) {
      return this.#viewLoadedLater(context, async () => (await import('./flows.js')).flowView(context, flow));
    }
    if (state.step === 'done' && state.recovery_codes) {
      const finish = () => {
        context.login.start();
        this.#finish(state, postern, this.#input.usedAuthenticator);
      };
      return this.#viewLoadedLater(context, async () => (await import('./steps.js')).codesView(context, state, finish));
    }
    if (state.step === 'start' || state.step === 'done') {
      return startView(context, state.step === 'start' ? state : context.login.start(), notice);
    }
    return this.#viewLoadedLater(context, async () => {
      const { stepView } = await import('./steps.js');
      const { current } = context.login;
      return current.step === 'start' || current.step === 'done' ? null : stepView(context, current);
    });
  }

  /** A view whose code is loaded when it is shown. This applies to all views except the first one. */
  #viewLoadedLater(context: Context, load: () => Promise<View | null>): View {
    const { words, showFlow } = context;
    const node = card(words.sign_in, element('p', { class: 'muted', part: 'hint', role: 'status' }, words.loading));
    let loadedView: View | null = null;
    load().then(
      (nextView) => {
        if (context.signal.aborted || nextView === null) return;
        loadedView = nextView;
        const hadFocus = node.contains(this.root.activeElement);
        node.replaceWith(nextView.node);
        this.restoreTyped();
        if (hadFocus) nextView.focus();
      },
      () => showFlow(null, words.offline),
    );
    return {
      node,
      update: (state) => loadedView?.update?.(state),
      focus: () => (loadedView ?? { focus: () => focusHeading(node) }).focus(),
    };
  }

  #context(
    postern: Postern,
    login: Login,
    offered: OfferedLogins,
    signal: AbortSignal,
    showFlow: Context['showFlow'],
  ): Context {
    const { oidc } = this.settings ?? {};
    const usable = offered.logins.filter(
      ({ authenticator, takes_redirect }) =>
        !isProvider(authenticator) || takes_redirect || (oidc !== undefined && authenticator.startsWith('oidc:')),
    );
    const offeredNames = usable.map(({ authenticator }) => authenticator);
    const chosen =
      this.ways.length > 0 ? this.ways.filter((authenticator) => offeredNames.includes(authenticator)) : offeredNames;
    const types = offered.logins.find(({ authenticator }) => authenticator === 'password')?.identity_types ?? [];
    return {
      words: this.words,
      language: this.language,
      postern,
      login,
      offered,
      signal,
      showFlow,
      oidc,
      authenticators: chosen,
      identityTypes: this.identityTypes.length > 0 ? this.identityTypes : types,
      pin: this.pin ?? undefined,
      registration: this.registration && offered.registration.is_on,
      guests: offered.guests.is_on && this.#guestId === null && (this.ways.length === 0 || this.ways.includes('guest')),
      recovery: this.recovery && offered.recovery.identity_types.length > 0,
      input: this.#input,
      flows: this.#flows,
      report: (error) => void this.report(error),
      finish: (state, authenticator) => {
        this.#flow = null;
        this.#finish(state, postern, authenticator);
      },
      leaveAddress: () => {
        this.#flow = null;
        this.#release();
        showFlow(null);
        this.#endAddress();
      },
      useOtherAccount: (leave) => {
        Object.assign(this.#input, { identity: '', page: 'identity' });
        leave();
      },
    };
  }

  #release(): void {
    this.#hold?.release();
    this.#hold = undefined;
  }

  async #finish(
    { user_id, device_id, recovery_codes }: Pick<LoginDone, 'user_id' | 'device_id' | 'recovery_codes'>,
    postern: Postern,
    authenticator: string | undefined,
  ): Promise<void> {
    const isForGuest = authenticator === 'guest';
    Object.assign(this.#input, { identity: '', page: 'identity', usedAuthenticator: undefined });
    if (!isForGuest) {
      this.#input.lastAuthenticator = authenticator ?? null;
      if (authenticator !== undefined) void coreOf(postern).marks.set(lastAuthenticatorKey, authenticator);
    }
    const hadGuest = this.#guestId !== null;
    this.#guestId = isForGuest ? user_id : null;
    this.#guestContinues = false;
    // With `recovery_codes`, the user has just enrolled a second factor. Adding an address then needs a proof with it, so it is done in the account.
    const isAsking = isProvider(authenticator ?? '') && recovery_codes === undefined;
    if (isAsking) this.#flow = 'address';
    else this.#release();
    const answer =
      isAsking &&
      new Promise<void>((resolve) => {
        this.#endAddress = resolve;
      });
    // The merge ends first, so that the page that opens next already shows what the guest had.
    if (hadGuest) {
      const merged = import('./guest.js').then(({ mergeGuest }) => mergeGuest(postern));
      await merged.catch((error: unknown) => this.report(error));
    }
    if (answer) await answer;
    const isAllowed = this.emit('postern-signed-in', { user_id, device_id });
    const path = this.returnTo;
    if (!isAllowed || path === null || !URL.canParse(path, location.href)) return;
    const target = new URL(path, location.href);
    if (target.origin === location.origin && path.startsWith('/')) location.assign(target);
  }
}
