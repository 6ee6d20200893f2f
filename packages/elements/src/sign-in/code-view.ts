import type { LoginIssue } from '@postern/client';
import { digitsOf, element, linkButton } from '../base/dom.js';
import { createForm, disableUntil, type FieldOptions } from '../base/form.js';
import { card, type LaterContext, showLoginIssue } from './views.js';

/** The view of one step of a state machine. */
export interface StepView<S> {
  readonly node: HTMLElement;
  /** The state of the same step has changed. */
  update(state: S): void;
  focus(): void;
}

/** A step that waits for a code. */
interface CodeState {
  readonly busy: boolean;
  readonly issue: LoginIssue | null;
  readonly resendAt: Date;
  submit(input: { readonly code: string; readonly pin?: string | undefined }): Promise<unknown>;
  resend(): Promise<unknown>;
  cancel(): unknown;
}

/** Asks for the code of a message. It is submitted once when it is complete, and a wrong one keeps the field and the cursor. */
export function codeView<S extends CodeState>(
  context: LaterContext,
  first: S,
  texts: {
    readonly lead: string;
    readonly submit: string;
    readonly back: string;
    readonly pin?: readonly FieldOptions[];
  },
): StepView<S> {
  const { words, signal } = context;
  let state = first;
  const { pin = [] } = texts;
  const asksPin = pin.some(({ reveal }) => reveal === undefined);
  const form = createForm({
    words,
    submit: texts.submit,
    labelledBy: 'heading',
    fields: [{ name: 'code', kind: 'code', label: words.code, length: asksPin ? undefined : 6 }, ...pin],
    onSubmit: ({ code = '', pin }) => state.submit({ code: digitsOf(code), pin }),
  });
  const resend = linkButton(words.resend, () => !state.busy && state.resend());
  const back = linkButton(texts.back, () => state.cancel());
  const lead = element('p', { class: 'lead muted', part: 'hint' }, texts.lead);
  const node = card(words.enter_code, lead, form.node, element('div', { class: 'row' }, resend, back));
  let shownResendAt = 0;
  const update = (next: S) => {
    state = next;
    form.setBusy(next.busy);
    void showLoginIssue(next.issue, form, context, words.wrong_code);
    const resendAt = next.resendAt.getTime();
    if (shownResendAt === resendAt) return;
    if (shownResendAt !== 0) form.clear('code');
    shownResendAt = resendAt;
    void disableUntil(resend, resendAt, words, signal);
  };
  update(first);
  return { node, update, focus: form.focus };
}
