import type {
  LoginBlocked,
  LoginCode,
  LoginDone,
  LoginLocked,
  LoginOidc,
  LoginPasskey,
  LoginSecret,
  LoginStart,
  LoginState,
  LoginTotp,
} from '@postern/client';
import { digitsOf, element, linkButton } from '../base/dom.js';
import { countDown, createForm } from '../base/form.js';
import { fill } from '../base/texts.js';
import { codeView } from './code-view.js';
import { enrolView, newPasswordView } from './enrolment.js';
import { withLaterTexts } from './later-texts.js';
import { titleOf } from './providers.js';
import { linkView, redirectView, refusedView } from './redirect.js';
import {
  button,
  type Context,
  card,
  focusHeading,
  issueBox,
  type LaterContext,
  pinField,
  showLoginIssue,
  type View,
} from './views.js';

export { codesView } from './enrolment.js';

/** The view of a step after the first. */
export function stepView(shown: Context, state: Exclude<LoginState, LoginStart | LoginDone>): View {
  const context: LaterContext = { ...shown, words: withLaterTexts(shown.words) };
  switch (state.step) {
    case 'code':
      return loginCodeView(context, state);
    case 'totp':
      return totpView(context, state, false);
    case 'passkey':
      return passkeyView(context, state);
    case 'new_password':
      return newPasswordView(context, state);
    case 'enrol':
      return enrolView(context, state);
    case 'oidc':
      return oidcView(context, state);
    case 'redirect':
      return redirectView(context, state);
    case 'link':
      return linkView(context, state);
    case 'refused':
      return refusedView(context, state);
    case 'secret':
      return secretView(context, state);
    case 'locked':
      return state.permanent ? blockedView(context, state) : lockedView(context, state);
  }
}

function loginCodeView(context: LaterContext, first: LoginCode): View {
  const { words } = context;
  const { destination, signUp, takesPin } = first;
  // After a first secret, the address belongs to the account.
  const text = signUp ? words.code_sign_up : takesPin ? words.code_to : words.code_sent;
  const lead = destination === null ? words.code_to_you : fill(text, { to: destination });
  const view = codeView(context, first, {
    lead,
    submit: words.sign_in,
    back: words.start_again,
    pin: first.takesPin ? pinField(context, undefined, 2) : [],
  });
  return { ...view, update: (next) => next.step === 'code' && view.update(next) };
}

function totpView(context: LaterContext, first: LoginTotp, byRecoveryCode: boolean): View {
  const { words } = context;
  let state = first;
  const label = byRecoveryCode ? words.recovery_code : words.authenticator_code;
  const form = createForm({
    words,
    submit: words.sign_in,
    labelledBy: 'heading',
    fields: [{ name: 'code', kind: byRecoveryCode ? 'text' : 'code', label, length: byRecoveryCode ? undefined : 6 }],
    async onSubmit({ code = '' }) {
      if (!byRecoveryCode) await state.submit({ code: digitsOf(code) });
      else await state.recoveryCode?.(code.trim());
    },
  });
  const toggleText = byRecoveryCode ? words.use_app : words.use_recovery_code;
  const toggle = state.recoveryCode !== null && linkButton(toggleText, () => showOtherView());
  const passkey = state.passkey !== null && button(words.use_passkey, () => state.busy || void state.passkey?.());
  const node = card(
    words.second_step,
    element('p', { class: 'lead muted', part: 'hint' }, words.second_step_hint),
    form.node,
    passkey,
    element(
      'div',
      { class: 'row' },
      toggle,
      linkButton(words.start_again, () => state.cancel()),
    ),
  );
  let otherView: View | undefined;
  const showOtherView = () => {
    otherView = totpView(context, state, !byRecoveryCode);
    node.replaceWith(otherView.node);
    otherView.focus();
  };
  const update = (next: LoginTotp) => {
    state = next;
    form.setBusy(next.busy);
    void showLoginIssue(next.issue, form, context, words.wrong_code);
  };
  update(first);
  return {
    node,
    update: (next) => next.step === 'totp' && (otherView?.update ? otherView.update(next) : update(next)),
    focus: () => (otherView ?? form).focus(),
  };
}

function passkeyView(context: LaterContext, first: LoginPasskey): View {
  const { words } = context;
  let state = first;
  const { node: alert, showIssue } = issueBox();
  const passkeyButton = button(words.use_passkey, () => state.busy || void state.submit(), 'button button-primary');
  passkeyButton.classList.add('primary');
  const recovery = state.recoveryCode !== null && linkButton(words.use_recovery_code, () => showForm());
  const row = element(
    'div',
    { class: 'row' },
    recovery,
    linkButton(words.start_again, () => state.cancel()),
  );
  const node = card(
    words.second_step,
    element('p', { class: 'lead muted', part: 'hint' }, words.second_step_hint),
    alert,
    passkeyButton,
    row,
  );
  const showForm = () => {
    const form = createForm({
      words,
      submit: words.sign_in,
      labelledBy: 'heading',
      fields: [{ name: 'code', kind: 'text', label: words.recovery_code }],
      onSubmit: async ({ code = '' }) => state.recoveryCode?.(code.trim()),
    });
    row.before(form.node);
    if (recovery) recovery.hidden = true;
    form.focus();
  };
  const update = (next: LoginPasskey) => {
    state = next;
    passkeyButton.setAttribute('aria-disabled', `${next.busy}`);
    void showLoginIssue(next.issue, { showIssue }, context, words.wrong_code);
  };
  update(first);
  return { node, update: (next) => next.step === 'passkey' && update(next), focus: () => passkeyButton.focus() };
}

function oidcView(context: LaterContext, first: LoginOidc): View {
  const { words, oidc, signal } = context;
  let state = first;
  const { node: alert, showIssue } = issueBox();
  const { provider } = first;
  const title = titleOf(context, `oidc:${provider}`);
  const retryButton = button(words.try_again, () => void askProvider());
  const lead = element('p', { class: 'lead muted', part: 'hint' }, fill(words.waiting, { provider: title }));
  const back = linkButton(words.start_again, () => state.cancel());
  const node = card(words.sign_in, lead, alert, retryButton, element('div', { class: 'row' }, back));
  const askProvider = async () => {
    const { issuer, client_ids, nonce } = state;
    retryButton.hidden = true;
    try {
      const idToken = (await oidc?.({ provider, issuer, client_ids, nonce })) ?? null;
      if (signal.aborted) return;
      if (idToken === null) state.cancel();
      else await state.submit({ idToken });
    } catch (error) {
      if (signal.aborted) return;
      context.report(error);
      showIssue(fill(words.provider_failed, { provider: title }));
    }
    retryButton.hidden = false;
  };
  void askProvider();
  const update = (next: LoginOidc) => {
    state = next;
    // The provider has checked who the user is.
    void showLoginIssue(next.issue, { showIssue }, context, fill(words.not_linked, { provider: title }));
  };
  return { node, update: (next) => next.step === 'oidc' && update(next), focus: () => focusHeading(node) };
}

/** The second step of an authenticator of the installation. */
function secretView(context: LaterContext, first: LoginSecret): View {
  const { words } = context;
  let state = first;
  const option = context.offered.logins.find(({ authenticator }) => authenticator === first.authenticator);
  const form = createForm({
    words,
    submit: words.sign_in,
    labelledBy: 'heading',
    fields: [{ name: 'code', kind: 'text', label: words.secret }, ...pinField(context, option, 2)],
    onSubmit: ({ code = '', pin }) => state.submit({ secret: code, pin }),
  });
  const { message } = first.challenge;
  const lead = typeof message === 'string' && element('p', { class: 'lead muted', part: 'hint' }, message);
  const node = card(
    words.second_step,
    lead,
    form.node,
    element(
      'div',
      { class: 'row' },
      linkButton(words.start_again, () => state.cancel()),
    ),
  );
  const update = (next: LoginSecret) => {
    state = next;
    form.setBusy(next.busy);
    void showLoginIssue(next.issue, form, context, words.wrong);
  };
  update(first);
  return { node, update: (next) => next.step === 'secret' && update(next), focus: form.focus };
}

function lockedView(context: LaterContext, state: LoginLocked): View {
  const { words, signal, recovery, showFlow } = context;
  const timer = element('p', { part: 'countdown', role: 'timer' });
  const startRecovery = () => {
    state.back();
    showFlow('recover_password');
  };
  const back = linkButton(words.back, () => state.back());
  const other = linkButton(words.other_account, () => context.useOtherAccount(() => state.back()));
  const forgotLink = recovery && linkButton(words.forgot_password, startRecovery);
  const node = card(
    words.locked,
    timer,
    element('slot', { name: 'locked' }),
    element('div', { class: 'row' }, back, other, forgotLink),
  );
  void countDown(timer, words.locked_until, state.countdown, signal).then(() => signal.aborted || state.back());
  return { node, focus: () => focusHeading(node) };
}

function blockedView(context: LaterContext, state: LoginBlocked): View {
  const { words } = context;
  const text = element(
    'p',
    { part: 'hint' },
    state.reason === 'account_locked' ? words.locked_for_good : words.suspended,
  );
  const restart = linkButton(words.other_account, () => context.useOtherAccount(() => state.restart()));
  const node = card(
    words.sign_in,
    element('slot', { name: 'locked' }, text),
    element('div', { class: 'row' }, restart),
  );
  return { node, focus: () => focusHeading(node) };
}
