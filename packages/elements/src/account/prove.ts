import { isPosternError, type OfferedLogins, type Proof, type ProofChoice, type ProofRequest } from '@postern/client';
import { anySignal } from '@postern/client/internal';
import { digitsOf, element, linkButton } from '../base/dom.js';
import { showError } from '../base/errors.js';
import { createForm, disableUntil, type Form } from '../base/form.js';
import { fill } from '../base/texts.js';
import { leaveTo, titleOf } from './away.js';
import type { DialogTexts } from './dialog-texts.js';
import type { Dialog } from './questions.js';
import type { StartTexts } from './texts.js';

interface ProveOptions {
  readonly words: StartTexts & DialogTexts;
  readonly dialog: Dialog;
  readonly signal: AbortSignal;
  readonly report: (error: unknown) => void;
  readonly providers: OfferedLogins['logins'];
  /** The page leaves for a proof at a provider. When it is back, it loads again. */
  readonly onLeave: () => void;
}

/** Asks for one of the proofs that the account accepts now. */
export function prove(
  { choices, problem }: Pick<ProofRequest, 'choices' | 'problem'>,
  options: ProveOptions,
): Promise<Proof | null> {
  const { words, dialog, signal, report, providers, onLeave } = options;
  const formAbort = new AbortController();
  const anyAbort = anySignal(signal, formAbort.signal);
  const formOptions = { words, labelledBy: 'dialog-title' };
  return new Promise<Proof | null>((resolve) => {
    const finish = (proof: Proof | null) => {
      formAbort.abort();
      resolve(proof);
    };
    const [firstChoice] = choices;
    if (firstChoice === undefined) {
      dialog.show(words.prove, [element('p', { class: 'issue', part: 'issue' }, words.no_proof)], () => finish(null));
      return;
    }
    let isFirst = true;
    /** @param isRequested the user has just chosen this proof, so a form without fields is submitted at once */
    const showChoice = (choice: ProofChoice, isRequested = false) => {
      const form = choiceForm(choice);
      const otherChoices = choices.filter((other) => choiceName(other) !== choiceName(choice));
      const links = otherChoices.map((other) => linkButton(choiceName(other), () => showChoice(other, true)));
      const introduction = element('p', { class: 'muted', part: 'hint' }, words.prove_why);
      dialog.show(
        words.prove,
        [introduction, form.node, links.length > 0 && element('div', { class: 'links' }, ...links)],
        () => finish(null),
      );
      if (isFirst && problem !== null) void showError(form, problem, words, anyAbort);
      isFirst = false;
      if (isRequested && (choice.type === 'passkey' || choice.type === 'code')) form.node.requestSubmit();
    };
    showChoice(firstChoice);

    function choiceName(choice: ProofChoice): string {
      if (choice.type === 'code') return fill(words.send_code_to, { to: choice.to });
      if (choice.type === 'provider')
        return fill(words.use_provider, { provider: titleOf(providers, choice.provider) });
      return { password: words.use_password, totp: words.use_app, pin: words.use_pin, passkey: words.use_passkey }[
        choice.type
      ];
    }
    /** Sends the request of a form. The form shows its error. @param cancelled the error if the user cancels it elsewhere */
    async function showFailure(
      form: () => Form,
      sendRequest: () => Promise<void>,
      cancelled = words.cancelled,
    ): Promise<void> {
      try {
        await sendRequest();
      } catch (error) {
        if (anyAbort.aborted) return;
        if (!isPosternError(error) || error.kind === 'usage') throw error;
        report(error);
        await showError(form(), error, { ...words, cancelled }, anyAbort);
      }
    }
    function choiceForm(choice: ProofChoice): Form {
      switch (choice.type) {
        case 'password': {
          const onSubmit = async ({ password = '' }) => finish(choice.prove(password));
          return createForm({
            ...formOptions,
            fields: [{ name: 'password', kind: 'password', label: words.password }],
            submit: words.continue,
            onSubmit,
          });
        }
        case 'pin': {
          const onSubmit = async ({ pin = '' }) => finish(choice.prove(pin));
          return createForm({
            ...formOptions,
            fields: [{ name: 'pin', kind: 'pin', label: words.current_pin }],
            submit: words.continue,
            onSubmit,
          });
        }
        case 'totp': {
          const onSubmit = async ({ code = '' }) => finish(choice.prove(digitsOf(code)));
          const label = words.authenticator_code;
          return createForm({
            ...formOptions,
            fields: [{ name: 'code', kind: 'code', label, hint: words.or_recovery_code }],
            submit: words.continue,
            onSubmit,
          });
        }
        case 'passkey': {
          const onSubmit = () =>
            showFailure(
              () => form,
              async () => finish(await choice.prove({ signal: anyAbort })),
            );
          const form: Form = createForm({ ...formOptions, fields: [], submit: words.use_passkey, onSubmit });
          return form;
        }
        case 'provider': {
          const open = (url: string) => {
            onLeave();
            return leaveTo(url, anyAbort);
          };
          const onSubmit = () =>
            showFailure(
              () => form,
              async () => void (await choice.prove({ open, signal: anyAbort })),
              words.provider_cancelled,
            );
          const form: Form = createForm({ ...formOptions, fields: [], submit: choiceName(choice), onSubmit });
          form.node.prepend(element('p', { class: 'muted', part: 'hint' }, words.use_provider_hint));
          return form;
        }
        case 'code': {
          const onSubmit = () =>
            showFailure(
              () => form,
              () => sendCode(choice),
            );
          const form: Form = createForm({
            ...formOptions,
            fields: [],
            submit: fill(words.send_code_to, { to: choice.to }),
            onSubmit,
          });
          return form;
        }
      }
    }
    async function sendCode(choice: ProofChoice<'code'>): Promise<void> {
      const sentCode = await choice.send({ signal: anyAbort });
      if (anyAbort.aborted) return;
      const onSubmit = async ({ code = '' }) => finish(sentCode.prove(digitsOf(code)));
      const form = createForm({
        ...formOptions,
        fields: [{ name: 'code', kind: 'code', label: words.code }],
        submit: words.continue,
        onSubmit,
      });
      const resendButton = linkButton(words.resend, () => showChoice(choice, true));
      const introduction = element('p', { class: 'muted', part: 'hint' }, fill(words.code_sent_to, { to: choice.to }));
      dialog.show(words.prove, [introduction, form.node, element('div', { class: 'links' }, resendButton)], () =>
        finish(null),
      );
      await disableUntil(resendButton, sentCode.resendAt.getTime(), words, anyAbort);
    }
  });
}
