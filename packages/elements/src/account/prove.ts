import { isPosternError, type Proof, type ProofChoice, type ProofRequest } from '@postern/client';
import { element } from '../base/dom.js';
import { showError } from '../base/errors.js';
import { createForm, disableUntil, type Form } from '../base/form.js';
import { fill } from '../base/texts.js';
import type { Dialog } from './questions.js';
import type { AccountTexts } from './texts.js';

interface ProveOptions {
  readonly words: AccountTexts;
  readonly dialog: Dialog;
  readonly signal: AbortSignal;
  readonly report: (error: unknown) => void;
}

/** Asks for one of the proofs that the account accepts now. */
export function prove(
  { choices, problem }: Pick<ProofRequest, 'choices' | 'problem'>,
  options: ProveOptions,
): Promise<Proof | null> {
  const { words, dialog, signal, report } = options;
  const life = new AbortController();
  const both = AbortSignal.any([signal, life.signal]);
  const common = { words, labelledBy: 'dialog-title' };
  return new Promise<Proof | null>((resolve) => {
    const done = (proof: Proof | null) => {
      life.abort();
      resolve(proof);
    };
    const [first] = choices;
    if (first === undefined) {
      dialog.show(words.prove, [element('p', { class: 'issue', part: 'issue' }, words.no_proof)], () => done(null));
      return;
    }
    let isFirst = true;
    /** `now`: the user has just asked for this proof, so a form without fields needs no second click. */
    const choose = (choice: ProofChoice, now = false) => {
      const form = formOf(choice);
      const others = choices.filter((other) => nameOf(other) !== nameOf(choice));
      const links = others.map((other) =>
        element(
          'button',
          { type: 'button', class: 'link small', part: 'link', click: () => choose(other, true) },
          nameOf(other),
        ),
      );
      const lead = element('p', { class: 'muted' }, words.prove_why);
      dialog.show(
        words.prove,
        [lead, form.node, links.length > 0 && element('div', { class: 'links' }, ...links)],
        () => done(null),
      );
      if (isFirst && problem !== null) {
        if (problem.code === 'proof_rejected') form.showIssue(words.wrong_proof);
        else showError(form, problem, words, both);
      }
      isFirst = false;
      if (now && (choice.type === 'passkey' || choice.type === 'code')) form.node.requestSubmit();
    };
    choose(first);

    function nameOf(choice: ProofChoice): string {
      if (choice.type === 'code') return fill(words.send_code_to, { to: choice.to });
      return { password: words.use_password, totp: words.use_app, pin: words.use_pin, passkey: words.use_passkey }[
        choice.type
      ];
    }
    /** Runs a request of a form. The form shows its error. */
    async function attempt(form: () => Form, act: () => Promise<void>): Promise<void> {
      try {
        await act();
      } catch (error) {
        if (both.aborted) return;
        if (!isPosternError(error) || error.kind === 'usage') throw error;
        report(error);
        showError(form(), error, words, both);
      }
    }
    function formOf(choice: ProofChoice): Form {
      switch (choice.type) {
        case 'password': {
          const onSubmit = async ({ password = '' }) => done(choice.prove(password));
          return createForm({
            ...common,
            fields: [{ name: 'password', kind: 'password', label: words.password }],
            submit: words.continue,
            onSubmit,
          });
        }
        case 'pin': {
          const onSubmit = async ({ pin = '' }) => done(choice.prove(pin));
          return createForm({
            ...common,
            fields: [{ name: 'pin', kind: 'pin', label: words.current_pin }],
            submit: words.continue,
            onSubmit,
          });
        }
        case 'totp': {
          const onSubmit = async ({ code = '' }) => done(choice.prove(code.replace(/\s/g, '')));
          const label = words.authenticator_code;
          return createForm({
            ...common,
            fields: [{ name: 'code', kind: 'code', label, hint: words.or_recovery_code }],
            submit: words.continue,
            onSubmit,
          });
        }
        case 'passkey': {
          const onSubmit = () =>
            attempt(
              () => form,
              async () => done(await choice.prove({ signal: both })),
            );
          const form: Form = createForm({ ...common, fields: [], submit: words.use_passkey, onSubmit });
          return form;
        }
        case 'code': {
          const onSubmit = () =>
            attempt(
              () => form,
              () => send(choice),
            );
          const form: Form = createForm({
            ...common,
            fields: [],
            submit: fill(words.send_code_to, { to: choice.to }),
            onSubmit,
          });
          return form;
        }
      }
    }
    async function send(choice: ProofChoice<'code'>): Promise<void> {
      const sent = await choice.send({ signal: both });
      if (both.aborted) return;
      const onSubmit = async ({ code = '' }) => done(sent.prove(code.replace(/\s/g, '')));
      const form = createForm({
        ...common,
        fields: [{ name: 'code', kind: 'code', label: words.code }],
        submit: words.continue,
        onSubmit,
      });
      const again = element(
        'button',
        { type: 'button', class: 'link small', part: 'link', click: () => choose(choice, true) },
        words.resend,
      );
      const lead = element('p', { class: 'muted' }, fill(words.code_sent_to, { to: choice.to }));
      dialog.show(words.prove, [lead, form.node, element('div', { class: 'links' }, again)], () => done(null));
      await disableUntil(again, sent.resendAt.getTime(), words, both);
    }
  });
}
