import type { Login, LoginIssue, LoginState, OfferedLogins, Postern } from '@postern/client';
import { type Child, element, replaceContent } from '../base/dom.js';
import { showFieldErrors } from '../base/errors.js';
import { countDown, type Form } from '../base/form.js';
import type { OidcSignIn } from '../base/options.js';
import type { SignInTexts } from './texts.js';

/** A way to sign in: the name of an authenticator of the service. */
export type WayIn = 'password' | 'sms' | 'email' | 'passkey' | `oidc:${string}` | `custom:${string}`;

/** A flow other than the login. */
export type Flow = 'recover_password' | 'recover_pin' | 'register';

/** The values that all views of the element use. */
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
  /** The user's input that is kept when the view changes. It has no secrets. */
  readonly input: { identity: string; way: string | undefined };
  /** Ends with the view. */
  readonly signal: AbortSignal;
  readonly report: (error: unknown) => void;
  /** Shows the view of a flow. Null shows the login, with a notice. */
  readonly showFlow: (flow: Flow | null, notice?: string) => void;
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
  const heading = element('h2', { part: 'heading', id: 'heading', tabindex: -1 }, title);
  return element('section', { class: 'card', part: 'card', 'aria-labelledby': 'heading' }, heading, ...children);
}

export const focusHeading = (node: HTMLElement) => node.querySelector<HTMLElement>('h2')?.focus();

export const link = (text: string, onClick: () => unknown) =>
  element('button', { type: 'button', class: 'link small', part: 'link', click: onClick }, text);

export const button = (text: Child, onClick: () => unknown, part = 'button') =>
  element('button', { type: 'button', class: 'button', part, click: onClick }, text);

/** The name of a provider for users, made from the one in the configuration of the service. */
export const providerTitle = (name: string) => name.replace(/^./, (letter) => letter.toUpperCase());

/** Shows why the input of a login was not accepted. */
export function showLoginIssue(
  issue: LoginIssue | null,
  form: Pick<Form, 'showIssue'> & Partial<Form>,
  { words, signal }: Pick<Context, 'words' | 'signal'>,
  wrongText: string,
): void {
  form.showIssue();
  if (issue === null) return;
  if (issue.kind === 'wait') {
    const timer = element('span', { role: 'timer', part: 'countdown' });
    form.showIssue(timer);
    void countDown(timer, words.wait, issue.countdown, signal).then(() => signal.aborted || form.showIssue());
    return;
  }
  const isInFields =
    issue.kind === 'invalid' && form.showFieldErrors !== undefined && showFieldErrors(form as Form, issue.errors);
  if (isInFields) return;
  const { message } = issue;
  const texts = { wrong: wrongText, lapsed: words.lapsed, offline: words.offline, cancelled: words.cancelled };
  const otherTexts = { unsupported: words.unsupported, invalid: message, failed: message };
  form.showIssue({ ...texts, ...otherTexts }[issue.kind]);
}

/** The box in which a view without a form shows its issue. */
export function issueBox(): { readonly node: HTMLElement; showIssue(...text: Child[]): void } {
  const node = element('div', { class: 'issue', part: 'issue', role: 'alert' });
  return { node, showIssue: (...text) => replaceContent(node, ...text) };
}
