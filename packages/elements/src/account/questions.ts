import type { Prover } from '@postern/client';
import type { Child } from '../base/dom.js';
import type { FieldOptions } from '../base/form.js';

/** A question of the dialog. */
export interface Step {
  readonly title: string;
  readonly lead?: readonly Child[];
  readonly fields?: readonly FieldOptions[];
  readonly submit: string;
  readonly isDangerous?: boolean;
  /** Runs with what was typed. The dialog closes afterwards, or asks the step that is returned. */
  readonly act: (values: Readonly<Record<string, string>>) => Promise<Step | undefined>;
}

export interface Dialog {
  readonly node: HTMLDialogElement;
  readonly style: string;
  /** Asks for a proof. */
  readonly prove: Prover;
  /** Asks until it is done. @returns false if the user cancelled */
  ask(step: Step): Promise<boolean>;
  /** Shows something else in the open dialog, such as a proof. `cancelled` runs if the user closes it. */
  show(title: string, content: readonly Child[], cancelled: () => void): void;
}
