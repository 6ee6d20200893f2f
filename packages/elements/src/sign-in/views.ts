import type { Login, LoginIssue, LoginState, OfferedLogins, Postern } from '@postern/client';
import { type Child, h, put } from '../base/dom.js';
import { showFaults } from '../base/errors.js';
import { countDown, type Form } from '../base/form.js';
import type { OidcSignIn } from '../base/options.js';
import type { SignInTexts } from './texts.js';

/** A way to sign in: the name of an authenticator of the service. */
export type WayIn = 'password' | 'sms' | 'email' | 'passkey' | `oidc:${string}` | `custom:${string}`;

/** Other views than the steps of a login. */
export type Detour = 'recover_password' | 'recover_pin' | 'register';

/** What the views of the element share. */
export interface Context {
  readonly words: SignInTexts;
  readonly language: string;
  readonly postern: Postern;
  readonly login: Login;
  readonly offered: OfferedLogins;
  /** Best first. */
  readonly ways: readonly string[];
  readonly identityTypes: readonly string[];
  readonly pin: 'hidden' | 'optional' | 'required';
  readonly registration: boolean;
  readonly recovery: boolean;
  readonly oidc: OidcSignIn | undefined;
  /** What the user typed, kept while the views change. Never a secret. */
  readonly typed: { identity: string; way: string | undefined };
  /** Ends with the view. */
  readonly signal: AbortSignal;
  readonly report: (error: unknown) => void;
  /** Shows another view. Null: the login, with a notice. */
  readonly go: (detour: Detour | null, notice?: string) => void;
}

/** A view of the element. */
export interface View {
  readonly node: HTMLElement;
  /** The state of the same step has changed. */
  update?(state: LoginState): void;
  focus(): void;
}

/** A card with a heading. */
export function card(title: string, ...children: Child[]): HTMLElement {
  const heading = h('h2', { part: 'heading', id: 'heading', tabindex: -1 }, title);
  return h('section', { class: 'card', part: 'card', 'aria-labelledby': 'heading' }, heading, ...children);
}

export const focusHeading = (node: HTMLElement) => node.querySelector<HTMLElement>('h2')?.focus();

export const link = (text: string, act: () => unknown) =>
  h('button', { type: 'button', class: 'link small', part: 'link', click: act }, text);

export const button = (text: Child, act: () => unknown, part = 'button') =>
  h('button', { type: 'button', class: 'button', part, click: act }, text);

/** Says in words why an input of a login did not lead on. */
export function showIssue(
  issue: LoginIssue | null,
  form: Pick<Form, 'issue'> & Partial<Form>,
  { words, signal }: Pick<Context, 'words' | 'signal'>,
  wrong: string,
): void {
  form.issue();
  if (issue === null) return;
  if (issue.kind === 'wait') {
    const line = h('span', { role: 'timer', part: 'countdown' });
    form.issue(line);
    void countDown(line, words.wait, issue.countdown, signal).then(() => signal.aborted || form.issue());
    return;
  }
  const isShown = issue.kind === 'invalid' && form.faults !== undefined && showFaults(form as Form, issue.errors);
  if (isShown) return;
  const { message } = issue;
  const texts = { wrong, lapsed: words.lapsed, offline: words.offline, cancelled: words.cancelled };
  const others = { unsupported: words.unsupported, invalid: message, failed: message };
  form.issue({ ...texts, ...others }[issue.kind]);
}

/** A place for the issue of a view without a form. */
export function issueBox(): { readonly node: HTMLElement; issue(...text: Child[]): void } {
  const node = h('div', { class: 'issue', part: 'issue', role: 'alert' });
  return { node, issue: (...text) => put(node, ...text) };
}
