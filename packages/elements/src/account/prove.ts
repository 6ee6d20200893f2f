import { isPosternError, type OfferedLogins, type Proof, type ProofChoice, type ProofRequest } from '@postern/client';
import { anySignal } from '@postern/client/internal';
import { digitsOf, element, linkButton } from '../base/dom.js';
import { showError } from '../base/errors.js';
import { createForm, disableUntil, type FieldOptions, type Form } from '../base/form.js';
import type { FormTexts } from '../base/form-texts.js';
import { fill } from '../base/texts.js';
import { leaveTo, titleOf } from './away.js';
import type { DialogTexts } from './dialog-texts.js';
import type { Dialog } from './questions.js';

/** The texts of the question that are not those of the dialog. */
export type ProofTexts = FormTexts & { readonly provider_cancelled: string };

interface ProveOptions {
  readonly words: ProofTexts & DialogTexts;
  readonly dialog: Pick<Dialog, 'show'>;
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
  const { words, dialog, signal, providers } = options;
  const formAbort = new AbortController();
  const anyAbort = anySignal(signal, formAbort.signal);
  return new Promise<Proof | null>((resolve) => {
    const finish = (proof: Proof | null) => {
      formAbort.abort();
      resolve(proof);
    };
    const show = (...content: Parameters<Dialog['show']>[1]) => dialog.show(words.prove, content, () => finish(null));
    const [firstChoice] = choices;
    if (firstChoice === undefined) {
      show(element('p', { class: 'issue', part: 'issue' }, words.no_proof));
      return;
    }
    const choiceForm = createForms({ ...options, signal: anyAbort }, finish, showSentCode);
    let isFirst = true;
    showChoice(firstChoice);

    /** @param isRequested the user has just chosen this proof, so a form without fields is submitted at once */
    function showChoice(choice: ProofChoice, isRequested = false): void {
      const form = choiceForm(choice);
      const nameOf = (one: ProofChoice) => choiceName(one, words, providers);
      const otherChoices = choices.filter((other) => nameOf(other) !== nameOf(choice));
      const links = otherChoices.map((other) => linkButton(nameOf(other), () => showChoice(other, true)));
      const introduction = element('p', { class: 'muted', part: 'hint' }, words.prove_why);
      show(introduction, form.node, links.length > 0 && element('div', { class: 'links' }, ...links));
      if (isFirst && problem !== null) void showError(form, problem, words, anyAbort);
      isFirst = false;
      if (isRequested && (choice.type === 'passkey' || choice.type === 'code')) form.node.requestSubmit();
    }
    /** @param form asks for the code that was sent */
    function showSentCode(choice: ProofChoice<'code'>, form: Form, resendAt: Date): Promise<void> {
      const resendButton = linkButton(words.resend, () => showChoice(choice, true));
      const introduction = element('p', { class: 'muted', part: 'hint' }, fill(words.code_sent_to, { to: choice.to }));
      show(introduction, form.node, element('div', { class: 'links' }, resendButton));
      return disableUntil(resendButton, resendAt.getTime(), words, anyAbort);
    }
  });
}

function choiceName(choice: ProofChoice, words: ProveOptions['words'], providers: ProveOptions['providers']): string {
  if (choice.type === 'code') return fill(words.send_code_to, { to: choice.to });
  if (choice.type === 'provider') return fill(words.use_provider, { provider: titleOf(providers, choice.provider) });
  return { password: words.use_password, totp: words.use_app, pin: words.use_pin, passkey: words.use_passkey }[
    choice.type
  ];
}

/** Creates the forms of the choices. Each form shows its own errors. */
function createForms(
  { words, signal, report, providers, onLeave }: ProveOptions,
  finish: (proof: Proof) => void,
  showSentCode: (choice: ProofChoice<'code'>, form: Form, resendAt: Date) => Promise<void>,
): (choice: ProofChoice) => Form {
  const options = { words, labelledBy: 'dialog-title' };

  /** A form that asks for a secret, which the next request contains. */
  function secretForm(field: FieldOptions, proofOf: (secret: string) => Proof): Form {
    const onSubmit = async (values: Readonly<Record<string, string>>) => finish(proofOf(values[field.name] ?? ''));
    return createForm({ ...options, fields: [field], submit: words.continue, onSubmit });
  }
  /** A form without fields, which sends a request. @param cancelled the error if the user cancels it elsewhere */
  function requestForm(submit: string, sendRequest: () => Promise<void>, cancelled = words.cancelled): Form {
    const form: Form = createForm({
      ...options,
      fields: [],
      submit,
      async onSubmit() {
        try {
          await sendRequest();
        } catch (error) {
          if (signal.aborted) return;
          if (!isPosternError(error) || error.kind === 'usage') throw error;
          report(error);
          await showError(form, error, { ...words, cancelled }, signal);
        }
      },
    });
    return form;
  }
  async function sendCode(choice: ProofChoice<'code'>): Promise<void> {
    const sentCode = await choice.send({ signal });
    if (signal.aborted) return;
    const form = secretForm({ name: 'code', kind: 'code', label: words.code }, (code) =>
      sentCode.prove(digitsOf(code)),
    );
    await showSentCode(choice, form, sentCode.resendAt);
  }
  return (choice) => {
    const name = choiceName(choice, words, providers);
    switch (choice.type) {
      case 'password':
        return secretForm({ name: 'password', kind: 'password', label: words.password }, choice.prove);
      case 'pin':
        return secretForm({ name: 'pin', kind: 'pin', label: words.current_pin }, choice.prove);
      case 'totp': {
        const label = words.authenticator_code;
        return secretForm({ name: 'code', kind: 'code', label, hint: words.or_recovery_code }, (code) =>
          choice.prove(digitsOf(code)),
        );
      }
      case 'passkey':
        return requestForm(name, async () => finish(await choice.prove({ signal })));
      case 'code':
        return requestForm(name, () => sendCode(choice));
      case 'provider': {
        const open = (url: string) => {
          onLeave();
          return leaveTo(url, signal);
        };
        const form = requestForm(
          name,
          async () => void (await choice.prove({ open, signal })),
          words.provider_cancelled,
        );
        form.node.prepend(element('p', { class: 'muted', part: 'hint' }, words.use_provider_hint));
        return form;
      }
    }
  };
}
