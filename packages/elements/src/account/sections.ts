import type { AccountClient, AccountDetails, Devices, OfferedLogins, Postern } from '@postern/client';
import { type Child, element } from '../base/dom.js';
import type { OidcSignIn } from '../base/options.js';
import { smallButton } from '../base/small-button.js';
import type { AccountChange, Step } from './questions.js';
import type { StartTexts } from './texts.js';

/** The sections of `<postern-account>`. */
export type AccountSection =
  | 'profile'
  | 'addresses'
  | 'security'
  | 'identities'
  | 'devices'
  | 'support'
  | 'activity'
  | 'data';

/** The values that all sections use. */
export interface Context {
  readonly words: StartTexts;
  readonly language: string;
  readonly postern: Postern;
  readonly client: AccountClient<true>;
  readonly devices: Devices;
  readonly account: AccountDetails;
  readonly offered: OfferedLogins;
  readonly oidc: OidcSignIn | undefined;
  readonly signal: AbortSignal;
  readonly report: (error: unknown) => void;
  /**
   * Shows the step in the dialog. `log_out_everywhere` has no step of its own: the dialog also shows its step after a change of a
   * credential. Afterwards it shows all sections again, and moves the focus to the button with this key.
   */
  readonly change: (key: string, change: AccountChange, step?: Step) => Promise<void>;
}

/** A line of a section: a name, a value, and buttons. */
export function row(name: Child, value: Child, ...actions: Child[]): HTMLElement {
  return element(
    'li',
    { class: 'line', part: 'row' },
    element(
      'div',
      { class: 'description' },
      element('span', { class: 'name', part: 'name' }, name),
      element('span', { class: 'value muted', part: 'value' }, value),
    ),
    actions.some(Boolean) && element('div', { class: 'acts' }, ...actions),
  );
}

/** A button of a line. The label names the line for screen readers. */
export function action(
  key: string,
  text: string,
  line: string,
  onClick: () => unknown,
  isDangerous = false,
): HTMLElement {
  const attributes = { 'aria-label': `${text}: ${line}`, 'data-key': key };
  // The dialog that follows says what is lost. A page full of red buttons warns of nothing.
  const dangerous = { class: 'act quiet', part: 'button button-danger' };
  return smallButton(text, onClick, isDangerous ? { ...attributes, ...dangerous } : attributes);
}

/** A list of lines. */
export const lines = (...rows: Child[]) => element('ul', { class: 'lines', part: 'list' }, ...rows);
