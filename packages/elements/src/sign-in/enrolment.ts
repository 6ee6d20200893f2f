import type { LoginDone, LoginEnrol, LoginNewPassword } from '@postern/client';
import { showCodes } from '../account/secrets.js';
import { digitsOf, element, linkButton } from '../base/dom.js';
import { createForm } from '../base/form.js';
import { picture } from '../base/qr-picture.js';
import { fill } from '../base/texts.js';
import { enrolmentTexts } from './enrolment-texts.js';
import { withLaterTexts } from './later-texts.js';
import { button, type Context, card, type LaterContext, showLoginIssue, type View } from './views.js';

const wordsOf = ({ language, words }: Context) => ({ ...enrolmentTexts(language), ...withLaterTexts(words) });

/** The view of a login that asks for a new password. */
export function newPasswordView(context: LaterContext, first: LoginNewPassword): View {
  const { words, offered } = context;
  let state = first;
  const hint = fill(words.password_hint, { count: offered.password.min_length });
  const form = createForm({
    words,
    submit: words.save,
    labelledBy: 'heading',
    fields: [{ name: 'password', kind: 'new-password', label: words.new_password, hint }],
    onSubmit: ({ password = '' }) => state.submit({ password }),
  });
  const cancel = linkButton(words.start_again, () => state.cancel());
  const node = card(words.recover_password, form.node, element('div', { class: 'row' }, cancel));
  const update = (next: LoginNewPassword) => {
    state = next;
    form.setBusy(next.busy);
    showLoginIssue(next.issue, form, context, words.wrong);
  };
  update(first);
  return { node, update: (next) => next.step === 'new_password' && update(next), focus: form.focus };
}

/** The view of a login that asks for a second factor to be added. */
export function enrolView(context: Context, first: LoginEnrol): View {
  const words = wordsOf(context);
  let state = first;
  const { secret, uri } = first.totp;
  const form = createForm({
    words,
    submit: words.continue,
    labelledBy: 'heading',
    fields: [{ name: 'code', kind: 'code', label: words.authenticator_code }],
    onSubmit: ({ code = '' }) => state.submit({ code: digitsOf(code) }),
  });
  const key = element('code', { class: 'secret', part: 'secret', dir: 'ltr' }, secret);
  const node = card(
    words.second_step,
    element('p', { class: 'lead muted', part: 'hint' }, words.scan_qr),
    picture(uri, words.qr),
    element('p', { class: 'small', part: 'hint' }, `${words.or_type} `, key),
    form.node,
    button(words.add_passkey, () => state.busy || void state.passkey()),
    element(
      'div',
      { class: 'row' },
      linkButton(words.start_again, () => state.cancel()),
    ),
  );
  const update = (next: LoginEnrol) => {
    state = next;
    form.setBusy(next.busy);
    showLoginIssue(next.issue, form, context, words.wrong_code);
    if (next.issue?.kind === 'wrong') form.clear('code');
  };
  update(first);
  return { node, update: (next) => next.step === 'enrol' && update(next), focus: form.focus };
}

/** The view of the recovery codes after an enrolment. The sign-in ends when the user has saved them. */
export function codesView(context: Context, { recovery_codes = [] }: LoginDone, onSaved: () => void): View {
  const { title, submit, introduction = [] } = showCodes({ words: wordsOf(context) }, recovery_codes);
  const saved = button(submit, onSaved, 'button button-primary');
  saved.classList.add('primary');
  return { node: card(title, ...introduction, saved), focus: () => saved.focus() };
}
