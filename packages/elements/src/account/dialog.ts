import { type AccountClient, isPosternError, type OfferedLogins } from '@postern/client';
import { element } from '../base/dom.js';
import { showError } from '../base/errors.js';
import { createForm, type Form } from '../base/form.js';
import { dialogStyle } from './dialog-style.js';
import { type DialogTexts, withDialogTexts } from './dialog-texts.js';
import { createFrame } from './frame.js';
import { prove } from './prove.js';
import type { AccountChange, Dialog, Step } from './questions.js';
import { keepChange } from './return.js';
import type { StartTexts } from './texts.js';

export interface DialogOptions {
  readonly client: AccountClient<true>;
  readonly words: StartTexts;
  readonly signal: AbortSignal;
  readonly report: (error: unknown) => void;
  readonly providers: () => OfferedLogins['logins'];
  /** The key of the button that the user has pressed. */
  readonly pressed: () => string;
}

/** Changes of a credential or a factor. A new password ends the other logins by itself. */
const credentialChanges: ReadonlySet<AccountChange> = new Set([
  'set_pin',
  'remove_pin',
  'enrol_totp',
  'remove_totp',
  'renew_recovery_codes',
  'add_passkey',
  'remove_passkey',
  'link_identity',
  'unlink_identity',
]);

/** One modal dialog for all changes. This module is loaded at the first change. */
export function createDialog({ client, words: shown, signal, report, providers, pressed }: DialogOptions): Dialog {
  const words = withDialogTexts(shown);
  const frame = createFrame(words.cancel, signal);
  const { node, footer, show } = frame;
  let typed: Readonly<Record<string, string>> = {};

  async function ask(change: AccountChange, step: Step | undefined, values?: Step['values']): Promise<boolean> {
    if (step === undefined) return askSteps(signOutOthers(client, words, signal));
    const isChanged = await askSteps({ ...step, values });
    if (isChanged && credentialChanges.has(change)) await askSteps(signOutOthers(client, words, signal));
    return isChanged;
  }

  function askSteps(firstStep: Step): Promise<boolean> {
    return new Promise((resolve) => {
      const showStep = (step: Step) => {
        const { submit, introduction = [], isDangerous = false, cancelled = words.cancelled, values } = step;
        const fields = (step.fields ?? []).map((field) => ({ ...field, value: values?.[field.name] ?? field.value }));
        const proven = values && element('p', { class: 'notice', part: 'notice' }, words.proven);
        // A step without fields after the first one only shows a result, such as recovery codes.
        const isLast = step.fields === undefined && !isDangerous && step !== firstStep;
        footer.hidden = isLast;
        const showForm = () => show(step.title, [proven, ...introduction, form.node], () => resolve(isLast));
        const form: Form = createForm({
          words,
          fields,
          submit,
          isDangerous,
          labelledBy: 'dialog-title',
          async onSubmit(values) {
            typed = Object.fromEntries(
              fields.flatMap(({ name, kind }) => (/password|pin|code/.test(kind) ? [] : [[name, values[name] ?? '']])),
            );
            try {
              const nextStep = await step.onSubmit(values);
              if (signal.aborted) return;
              if (nextStep !== undefined) return showStep(nextStep);
              frame.close();
              resolve(true);
            } catch (error) {
              if (signal.aborted) return;
              if (!isPosternError(error) || error.kind === 'usage') throw error;
              // The user closed the dialog.
              if (!node.open) return resolve(false);
              // The dialog shows a proof instead of the form.
              if (!form.node.isConnected) showForm();
              report(error);
              await showError(form, error, { ...words, cancelled }, signal);
            }
          },
        });
        showForm();
      };
      showStep(firstStep);
    });
  }
  const dialog: Dialog = {
    node,
    style: dialogStyle,
    ask,
    show,
    prove: (request) =>
      prove(request, {
        words,
        dialog,
        signal,
        report,
        providers: providers(),
        onLeave: () => keepChange({ key: pressed(), values: typed }),
      }) as Promise<never>,
  };
  return dialog;
}

/** Offers to sign out on all other devices. It is on unless the user turns it off. */
function signOutOthers(client: DialogOptions['client'], words: StartTexts & DialogTexts, signal: AbortSignal): Step {
  const choice = element('input', { type: 'checkbox', part: 'checkbox', checked: true });
  const label = element('label', { class: 'choice', part: 'label' }, choice, ` ${words.sign_out_others}`);
  return {
    title: words.sign_out_others,
    submit: words.continue,
    introduction: [element('p', { class: 'muted', part: 'hint' }, words.change_password_hint), label],
    async onSubmit() {
      if (choice.checked) await client.logOutEverywhere({ signal });
      return undefined;
    },
  };
}
