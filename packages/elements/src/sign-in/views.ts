import type {
  Login,
  LoginDone,
  LoginIssue,
  LoginState,
  OfferedLogins,
  PendingAddress,
  Postern,
  Recovery,
  Registration,
} from '@postern/client';
import { type Child, element, replaceContent } from '../base/dom.js';
import type { IssuePlace } from '../base/errors.js';
import type { FieldOptions, Form } from '../base/form.js';
import type { OidcSignIn } from '../base/options.js';
import type { SignInTexts, StartTexts } from './texts.js';

/** The name of an authenticator of the service. */
export type Authenticator =
  | 'password'
  | 'sms'
  | 'email'
  | 'passkey'
  | 'guest'
  | `oidc:${string}`
  | `oauth:${string}`
  | `custom:${string}`;

/** Whether an authenticator is an account at a provider. */
export const isProvider = (authenticator: string) => /^(oidc|oauth):/.test(authenticator);

/** A flow other than the login. `address` follows a login at a provider. */
export type Flow = 'recover_password' | 'recover_pin' | 'register' | 'address';

/** The registration and the recovery, if the user has started them, and the first address of an account. */
export interface FlowMachines {
  register?: Registration;
  recover?: Recovery;
  address?: FirstAddress;
}

/** The address that a user wants to add, and the code that was sent there. */
export interface FirstAddress {
  value: string;
  sent?: { readonly pending: PendingAddress; readonly resendAt: Date } | undefined;
}

/** What the user has typed and chosen. It has no secrets. */
export interface SignInInput {
  identity: string;
  authenticator: string | undefined;
  /** The page of the first step. */
  page: 'identity' | 'password';
  /** The authenticator of the login in progress, and that of the last login of this browser. */
  usedAuthenticator: string | undefined;
  lastAuthenticator: string | null;
}

/** The values that all views of the element use. */
export interface Context {
  readonly words: StartTexts;
  readonly language: string;
  readonly postern: Postern;
  readonly login: Login;
  readonly offered: OfferedLogins;
  /** Best first. */
  readonly authenticators: readonly string[];
  readonly identityTypes: readonly string[];
  /** Whether a login takes a PIN; undefined: by the rules of the service. */
  readonly pin: 'hidden' | 'optional' | 'required' | undefined;
  readonly registration: boolean;
  /** Whether a visitor can go on as a guest. */
  readonly guests: boolean;
  readonly recovery: boolean;
  readonly oidc: OidcSignIn | undefined;
  readonly flows: FlowMachines;
  /** The user's input that is kept when the view changes. It has no secrets. */
  readonly input: SignInInput;
  /** Ends with the view. */
  readonly signal: AbortSignal;
  readonly report: (error: unknown) => void;
  /** Ends a login that another part of the view has led. */
  readonly finish: (state: Pick<LoginDone, 'user_id' | 'device_id'>, authenticator: string | undefined) => void;
  /** Ends the flow `address`. */
  readonly leaveAddress: () => void;
  /** Forgets the identity, and leaves the step. */
  readonly useOtherAccount: (leave: () => unknown) => void;
  /** Shows the view of a flow. Null shows the login, with a notice. */
  readonly showFlow: (flow: Flow | null, notice?: string) => void;
}

/** The same for the views after the first one, whose texts load with them. */
export interface LaterContext extends Context {
  readonly words: SignInTexts;
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

export const button = (text: Child, onClick: () => unknown, part = 'button') =>
  element('button', { type: 'button', class: 'button', part, click: onClick }, text);

/**
 * The field for a PIN, if a login takes one. The service demands one only in the second step of a login, and only with
 * `PIN_POLICY=required`. Where it may be omitted, the user asks for the field.
 */
export function pinField(
  { words, pin, offered }: Pick<Context, 'words' | 'pin' | 'offered'>,
  option: { readonly takes_pin: boolean } | undefined,
  step: 1 | 2,
): FieldOptions[] {
  const { policy } = offered.pin;
  const byPolicy = policy === 'required' && step === 2 ? 'required' : 'optional';
  const rule = policy === 'off' || option?.takes_pin === false ? 'hidden' : (pin ?? byPolicy);
  const field = { name: 'pin', kind: 'pin', label: words.pin } as const;
  if (rule === 'hidden') return [];
  return [rule === 'required' ? field : { ...field, isOptional: true, reveal: words.have_pin }];
}

/** Shows why the input of a login was not accepted. */
export async function showLoginIssue(
  issue: LoginIssue | null,
  form: IssuePlace,
  { words, signal }: Pick<Context, 'words' | 'signal'>,
  wrongText: string,
): Promise<void> {
  form.showIssue();
  if (issue === null) return;
  const { kind } = issue;
  if (kind === 'wrong') return form.showIssue(wrongText);
  if (kind !== 'wait' && kind !== 'failed' && kind !== 'invalid') return form.showIssue(words[kind]);
  const errors = await import('../base/errors.js').catch(() => undefined);
  if (signal.aborted) return;
  if (errors === undefined) return form.showIssue(words.failed);
  if (kind === 'wait') return errors.showWait(form, issue.countdown, words, signal);
  if (kind === 'failed') return errors.showError(form, issue.error, words, signal);
  const isInFields = form.showFieldErrors && (await errors.showFieldErrors(form as Form, issue.errors, words));
  if (!isInFields) form.showIssue(wrongText);
}

/** The box in which a view without a form shows its issue. */
export function issueBox(): { readonly node: HTMLElement; showIssue(...text: Child[]): void } {
  const node = element('div', { class: 'issue', part: 'issue', role: 'alert' });
  return { node, showIssue: (...text) => replaceContent(node, ...text) };
}
