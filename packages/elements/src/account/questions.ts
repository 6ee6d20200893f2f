import type { AccountOperation, Prover } from '@postern/client';
import type { Child } from '../base/dom.js';
import type { FieldOptions } from '../base/form.js';

/** The name of a change in the event `postern-changed`. */
export type AccountChange =
  | AccountOperation
  | 'update'
  | 'rename_passkey'
  | 'remove_device'
  | 'log_out_everywhere'
  | 'cancel_pin_recovery'
  | 'allow_support_login'
  | 'end_support_login';

/** One form of the dialog. */
export interface Step {
  readonly title: string;
  readonly introduction?: readonly Child[];
  readonly fields?: readonly FieldOptions[];
  readonly submit: string;
  readonly isDangerous?: boolean;
  /** The error if the user cancels in another window. By default it is about a passkey. */
  readonly cancelled?: string;
  /**
   * What the user typed before a proof elsewhere, by the names of the fields. The form begins with it, and says that the proof is given.
   */
  readonly values?: Readonly<Record<string, string>> | undefined;
  /** Called with the values that the user has entered. Then the dialog closes, or shows the returned step. */
  readonly onSubmit: (values: Readonly<Record<string, string>>) => Promise<Step | undefined>;
}

export interface Dialog {
  readonly node: HTMLDialogElement;
  readonly style: string;
  /** Asks the user for a proof. */
  readonly prove: Prover;
  /**
   * Shows the step and those after it. Without a step, and after a change of a credential, it offers to sign out on all other devices.
   * @param values what the user had typed into the first step, if the change goes on after a proof elsewhere
   * @returns false if the user cancelled
   */
  ask(change: AccountChange, step: Step | undefined, values?: Step['values']): Promise<boolean>;
  /** Shows other content in the open dialog, such as a proof. `onCancel` runs if the user closes it. */
  show(title: string, content: readonly Child[], onCancel: () => void): void;
}
