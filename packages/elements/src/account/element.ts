import {
  type AccountClient,
  createAccount,
  createDevices,
  isPosternError,
  type OfferedLogins,
  offeredLogins,
  type Postern,
  type ResumedProof,
} from '@postern/client';
import { loadPart } from '@postern/client/internal';
import { element, replaceContent } from '../base/dom.js';
import { PosternElement } from '../base/element.js';
import { textOf } from '../base/error-text.js';
import { smallButton } from '../base/small-button.js';
import { addressSection, profileSection } from './credentials.js';
import { identitySection, securitySection } from './factors.js';
import type { AccountChange, Dialog } from './questions.js';
import type { BegunChange } from './return.js';
import type { AccountSection, Context } from './sections.js';
import { style } from './style.js';
import { english, type StartTexts } from './texts.js';

/** Events of `<postern-account>`. */
export interface AccountEvents {
  /** The user has changed something. */
  readonly 'postern-changed': CustomEvent<{ readonly operation: AccountChange }>;
  /** The user has signed out here, or has deleted the account. */
  readonly 'postern-signed-out': CustomEvent<null>;
}

/** The sections at the end of the page, which are loaded while the service answers. */
const loadHistory = () => loadPart(() => import('./history.js'));

const sectionBuilders: Readonly<
  Record<AccountSection, (context: Context) => HTMLElement | null | Promise<HTMLElement | null>>
> = {
  profile: profileSection,
  addresses: addressSection,
  security: securitySection,
  identities: identitySection,
  devices: async (context) => (await loadHistory()).deviceSection(context),
  support: async (context) => (await loadPart(() => import('./support.js'))).supportSection(context),
  activity: async (context) => (await loadHistory()).activitySection(context),
  data: async (context) => (await loadHistory()).dataSection(context),
};

/** What the sections and the dialog of one client share. */
interface LoadState {
  readonly client: AccountClient<true>;
  readonly dialog: () => Promise<Dialog>;
  readonly content: HTMLElement;
  readonly status: HTMLElement;
  readonly signal: AbortSignal;
  offered?: OfferedLogins;
  /** The proof with which the browser has come back from a provider, until it is used. */
  resumed?: ResumedProof | undefined;
}

const isSection = (name: string): name is AccountSection => Object.hasOwn(sectionBuilders, name);

/**
 * `<postern-account>`: shows users their account, and lets them change it. If a change needs a proof, it asks for one.
 *
 * Parts: `section`, `heading`, `list`, `row`, `name`, `value`, `entry`, `time`, `tag`, `icon`, `skeleton`, `dialog`, `form`, `field`,
 * `label`, `input`, `code`, `checkbox`, `hint`, `button`, `button-primary`, `button-danger`, `button-reveal`, `link`, `qr`, `secret`,
 * `recovery-codes`, `recovery-code`, `notice`, `issue`.
 *
 * @example
 * ```ts
 * import { createPostern, indexedDbStorage } from '@postern/client';
 * import { defineAccount } from '@postern/elements/account';
 *
 * defineAccount({ postern: createPostern({ url: 'https://auth.example.com', storage: indexedDbStorage() }) });
 * document.querySelector('postern-account')?.on('postern-signed-out', () => location.assign('/'));
 * ```
 */
export class PosternAccount extends PosternElement<AccountEvents, StartTexts> {
  /** @internal */
  static readonly tag = 'postern-account';
  /** @internal */
  static readonly style = style;
  /** @internal */
  static readonly observedAttributes = ['lang', 'sections'];

  constructor() {
    super(english, { es: async () => (await import('./es.js')).spanish });
  }

  /** Attribute `sections`, separated by spaces. By default all that the account has. */
  get sections(): readonly AccountSection[] {
    const chosen = (this.getAttribute('sections') ?? '').split(/\s+/).filter(isSection);
    return chosen.length > 0 ? chosen : Object.keys(sectionBuilders).filter(isSection);
  }
  set sections(sections: readonly AccountSection[] | string) {
    this.attribute('sections', sections);
  }

  /** @internal */
  protected override options(): readonly unknown[] {
    return this.sections;
  }

  /** @internal Waits until an open dialog has closed, so that its input is kept. */
  protected override whenReplaceable(): Promise<unknown> {
    const dialog = this.root.querySelector('dialog[open]');
    return dialog ? new Promise((resolve) => dialog.addEventListener('close', resolve)) : Promise.resolve();
  }

  /** @internal */
  protected override start(postern: Postern, signal: AbortSignal): void {
    const { words } = this;
    const content = element('div', { class: 'sections' }, ...this.#skeleton());
    const status = element('p', { class: 'sr-only', role: 'status' });
    const report = (error: unknown) => void this.report(error);
    replaceContent(this.root, content, status);
    /** The key of the button that the user has pressed last. */
    let pressed = '';
    content.addEventListener('click', ({ target }) => {
      pressed = (target as Element).closest<HTMLElement>('[data-key]')?.dataset.key ?? '';
    });
    let loadedDialog: Promise<Dialog> | undefined;
    const dialog = () =>
      (loadedDialog ??= loadPart(() => import('./dialog.js'))
        .then(({ createDialog }) => {
          const dialog = createDialog({
            client,
            words,
            signal,
            report,
            providers: () => shared.offered?.logins ?? [],
            pressed: () => pressed,
          });
          this.adoptStyle(dialog.style);
          this.root.append(dialog.node);
          return dialog;
        })
        .catch((error) => {
          loadedDialog = undefined;
          throw error;
        }));
    const client = createAccount(postern, {
      async prove(request) {
        const { resumed } = shared;
        shared.resumed = undefined;
        const isGood = request.problem === null && resumed?.operation === request.operation;
        return isGood ? (resumed.proof as never) : (await dialog()).prove(request);
      },
    });
    const shared: LoadState = { client, dialog, content, status, signal };
    let user: string | undefined;
    const unsubscribe = postern.subscribe((state) => {
      if (state.status === 'starting') return;
      const nextUser = state.status === 'signed_in' ? state.user_id : '';
      if (nextUser === user) return;
      if (user && nextUser === '') {
        void loadedDialog?.then(({ node }) => node.close());
        this.emit('postern-signed-out', null);
      }
      user = nextUser;
      if (nextUser === '') replaceContent(content, this.#note(words.signed_out));
      else void this.#load(postern, shared);
    });
    signal.addEventListener('abort', unsubscribe);
  }

  #note(text: string): HTMLElement {
    return element('p', { class: 'muted', part: 'hint', role: 'status' }, text);
  }

  /** The shape of the page while the account is read. */
  #skeleton(): HTMLElement[] {
    const status = element('span', { class: 'sr-only', role: 'status' }, this.words.loading);
    const section = () =>
      element(
        'div',
        { class: 'waiting', part: 'list' },
        ...['short', 'tall'].map((name) => element('i', { class: `skeleton ${name}`, part: 'skeleton' })),
      );
    return [status, section(), section()];
  }

  /** Reads the account, and shows its sections. */
  async #load(postern: Postern, state: LoadState): Promise<void> {
    const { words, language } = this;
    const { client, dialog, content: container, status, signal } = state;
    const devices = createDevices(postern);
    const report = (error: unknown) => void this.report(error);
    let typed: BegunChange['values'] | undefined;
    const show = async (key?: string): Promise<void> => {
      try {
        const account = await client.get({ signal });
        state.offered ??= await offeredLogins(postern, { signal });
        const { offered } = state;
        const { oidc } = this.settings ?? {};
        const base = { words, language, postern, client, devices, account, offered, oidc, signal, report };
        const context: Context = { ...base, change };
        const sections = await Promise.all(this.sections.map((name) => this.#section(name, context)));
        if (signal.aborted || postern.current.status !== 'signed_in') return;
        replaceContent(container, ...sections);
        this.restoreTyped();
        if (key !== undefined) container.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
      } catch (error) {
        if (signal.aborted || !isPosternError(error) || error.kind === 'signed_out') return;
        report(error);
        const text = await textOf(error, words);
        if (signal.aborted) return;
        replaceContent(
          container,
          element(
            'p',
            { class: 'issue', part: 'issue', role: 'alert' },
            `${text} `,
            smallButton(words.try_again, () => show()),
          ),
        );
      }
    };
    const change: Context['change'] = async (key, operation, step) => {
      try {
        const values = typed;
        typed = undefined;
        const isDone = await (await dialog()).ask(operation, step, values);
        state.resumed = undefined;
        if (!isDone) return;
      } catch (error) {
        // The dialog could not be loaded.
        if (signal.aborted || !isPosternError(error)) throw error;
        report(error);
        container.querySelector('.issue[role=alert]')?.remove();
        container.prepend(element('p', { class: 'issue', part: 'issue', role: 'alert' }, await textOf(error, words)));
        return;
      }
      this.emit('postern-changed', { operation });
      status.textContent = '';
      await show(key);
      replaceContent(status, words.saved);
    };
    // Only a browser that comes back from a provider loads this part.
    const returned = /[?&]authentication_id=/.test(location.search)
      ? await loadPart(() => import('./return.js'))
          .then(({ takeReturn }) => takeReturn(client, signal))
          .catch((error: unknown) => error as Error)
      : null;
    await show();
    if (signal.aborted || returned === null) return;
    if (returned instanceof Error) {
      if (!isPosternError(returned) || returned.kind === 'usage') throw returned;
      report(returned);
      const { provider_cancelled: cancelled, provider_failed: failed } = words;
      const text = await textOf(returned, { ...words, cancelled, failed });
      container.prepend(element('p', { class: 'issue', part: 'issue', role: 'alert' }, text));
    } else if (returned.kind === 'linked') {
      this.emit('postern-changed', { operation: 'link_identity' });
      status.textContent = words.saved;
    } else {
      const { key = '', values = {} } = returned.begun ?? {};
      state.resumed = returned.proof;
      typed = values;
      container.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.click();
    }
  }

  /** A section with its heading. If it cannot be read, it shows an error, and the other sections are still shown. */
  async #section(name: AccountSection, context: Context): Promise<HTMLElement | null> {
    const { words } = this;
    const id = `section-${name}`;
    const sectionOf = (content: HTMLElement) =>
      element(
        'section',
        { part: 'section', 'aria-labelledby': id },
        element('h2', { id, part: 'heading' }, words[name]),
        content,
      );
    try {
      const content = await sectionBuilders[name](context);
      return content && sectionOf(content);
    } catch (error) {
      if (context.signal.aborted) return null;
      if (!isPosternError(error) || error.kind === 'usage') throw error;
      context.report(error);
      return sectionOf(
        element(
          'p',
          { class: 'issue', part: 'issue' },
          `${words.not_loaded} `,
          smallButton(words.try_again, () => this.restart()),
        ),
      );
    }
  }
}
