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
import { h } from '../base/dom.js';
import { countDown, createForm, disableUntil, type FieldOptions } from '../base/form.js';
import { fill } from '../base/texts.js';
import { button, type Context, card, focusHeading, issueBox, link, showIssue, type View } from './views.js';

/** The view of a step after the first. */
export function stepView(context: Context, state: Exclude<LoginState, LoginStart | LoginDone>): View {
  switch (state.step) {
    case 'code':
      return codeView(context, state);
    case 'totp':
      return totpView(context, state, false);
    case 'passkey':
      return passkeyView(context, state);
    case 'oidc':
      return oidcView(context, state);
    case 'secret':
      return secretView(context, state);
    case 'locked':
      return state.permanent ? blockedView(context, state) : lockedView(context, state);
  }
}

function pinField({ words, pin }: Context): FieldOptions[] {
  return pin === 'hidden' ? [] : [{ name: 'pin', kind: 'pin', label: words.pin, isOptional: pin === 'optional' }];
}

function codeView(context: Context, first: LoginCode): View {
  const { words, signal } = context;
  let state = first;
  const form = createForm({
    ...{ words, submit: words.sign_in, labelledBy: 'heading' },
    fields: [{ name: 'code', kind: 'code', label: words.code }, ...pinField(context)],
    onSubmit: ({ code = '', pin }) => state.submit({ code: code.replace(/\s/g, ''), pin }),
  });
  const resend = link(words.resend, () => !state.busy && state.resend());
  const lead = state.destination === null ? words.code_to_you : fill(words.code_to, { to: state.destination });
  const node = card(
    words.enter_code,
    h('p', { class: 'lead muted' }, lead),
    form.node,
    h(
      'div',
      { class: 'row' },
      resend,
      link(words.start_again, () => state.cancel()),
    ),
  );
  let since = 0;
  const update = (next: LoginCode) => {
    state = next;
    form.busy(next.busy);
    showIssue(next.issue, form, context, words.wrong_code);
    if (next.issue?.kind === 'wrong') form.clear('code');
    const resendAt = next.resendAt.getTime();
    if (since === resendAt) return;
    since = resendAt;
    void disableUntil(resend, resendAt, words, signal);
  };
  update(first);
  return { node, update: (next) => next.step === 'code' && update(next), focus: form.focus };
}

function totpView(context: Context, first: LoginTotp, byRecoveryCode: boolean): View {
  const { words } = context;
  let state = first;
  const label = byRecoveryCode ? words.recovery_code : words.authenticator_code;
  const form = createForm({
    ...{ words, submit: words.sign_in, labelledBy: 'heading' },
    fields: [{ name: 'code', kind: byRecoveryCode ? 'text' : 'code', label }],
    async onSubmit({ code = '' }) {
      if (!byRecoveryCode) await state.submit({ code: code.replace(/\s/g, '') });
      else await state.recoveryCode?.(code.trim());
    },
  });
  const other = byRecoveryCode ? words.use_app : words.use_recovery_code;
  const toggle = state.recoveryCode !== null && link(other, () => swap());
  const passkey = state.passkey !== null && button(words.use_passkey, () => state.busy || void state.passkey?.());
  const node = card(
    words.second_step,
    h('p', { class: 'lead muted' }, words.second_step_hint),
    form.node,
    passkey,
    h(
      'div',
      { class: 'row' },
      toggle,
      link(words.start_again, () => state.cancel()),
    ),
  );
  let inner: View | undefined;
  const swap = () => {
    inner = totpView(context, state, !byRecoveryCode);
    node.replaceWith(inner.node);
    inner.focus();
  };
  const update = (next: LoginTotp) => {
    state = next;
    form.busy(next.busy);
    showIssue(next.issue, form, context, words.wrong_code);
    if (next.issue?.kind === 'wrong') form.clear('code');
  };
  update(first);
  return {
    node,
    update: (next) => next.step === 'totp' && (inner?.update ? inner.update(next) : update(next)),
    focus: () => (inner ?? form).focus(),
  };
}

function passkeyView(context: Context, first: LoginPasskey): View {
  const { words } = context;
  let state = first;
  const { node: alert, issue } = issueBox();
  const ask = button(words.use_passkey, () => state.busy || void state.submit(), 'button button-primary');
  ask.classList.add('primary');
  const recovery = state.recoveryCode !== null && link(words.use_recovery_code, () => showForm());
  const row = h(
    'div',
    { class: 'row' },
    recovery,
    link(words.start_again, () => state.cancel()),
  );
  const node = card(words.second_step, h('p', { class: 'lead muted' }, words.second_step_hint), alert, ask, row);
  const showForm = () => {
    const form = createForm({
      ...{ words, submit: words.sign_in, labelledBy: 'heading' },
      fields: [{ name: 'code', kind: 'text', label: words.recovery_code }],
      onSubmit: async ({ code = '' }) => state.recoveryCode?.(code.trim()),
    });
    row.before(form.node);
    if (recovery) recovery.hidden = true;
    form.focus();
  };
  const update = (next: LoginPasskey) => {
    state = next;
    ask.setAttribute('aria-disabled', `${next.busy}`);
    showIssue(next.issue, { issue }, context, words.wrong_code);
  };
  update(first);
  return { node, update: (next) => next.step === 'passkey' && update(next), focus: () => ask.focus() };
}

function oidcView(context: Context, first: LoginOidc): View {
  const { words, oidc, signal } = context;
  let state = first;
  const { node: alert, issue } = issueBox();
  const { provider } = first;
  const again = button(words.try_again, () => void ask());
  const lead = h('p', { class: 'lead muted' }, fill(words.waiting, { provider }));
  const back = link(words.start_again, () => state.cancel());
  const node = card(words.sign_in, lead, alert, again, h('div', { class: 'row' }, back));
  const ask = async () => {
    const { issuer, client_ids, nonce } = state;
    again.hidden = true;
    try {
      const idToken = (await oidc?.({ provider, issuer, client_ids, nonce })) ?? null;
      if (signal.aborted) return;
      if (idToken === null) state.cancel();
      else await state.submit({ idToken });
    } catch (error) {
      if (signal.aborted) return;
      context.report(error);
      issue(words.wrong);
    }
    again.hidden = false;
  };
  void ask();
  const update = (next: LoginOidc) => {
    state = next;
    showIssue(next.issue, { issue }, context, words.wrong);
  };
  return { node, update: (next) => next.step === 'oidc' && update(next), focus: () => focusHeading(node) };
}

/** The second step of an authenticator of the installation. */
function secretView(context: Context, first: LoginSecret): View {
  const { words } = context;
  let state = first;
  const option = context.offered.logins.find(({ authenticator }) => authenticator === first.authenticator);
  const form = createForm({
    ...{ words, submit: words.sign_in, labelledBy: 'heading' },
    fields: [{ name: 'code', kind: 'text', label: words.secret }, ...(option?.takes_pin ? pinField(context) : [])],
    onSubmit: ({ code = '', pin }) => state.submit({ secret: code, pin }),
  });
  const { message } = first.challenge;
  const lead = typeof message === 'string' && h('p', { class: 'lead muted' }, message);
  const node = card(
    words.second_step,
    lead,
    form.node,
    h(
      'div',
      { class: 'row' },
      link(words.start_again, () => state.cancel()),
    ),
  );
  const update = (next: LoginSecret) => {
    state = next;
    form.busy(next.busy);
    showIssue(next.issue, form, context, words.wrong);
  };
  update(first);
  return { node, update: (next) => next.step === 'secret' && update(next), focus: form.focus };
}

function lockedView(context: Context, state: LoginLocked): View {
  const { words, signal, recovery, go } = context;
  const line = h('p', { part: 'countdown', role: 'timer' });
  const recover = () => {
    state.back();
    go('recover_password');
  };
  const forgot = recovery && link(words.forgot_password, recover);
  const node = card(words.locked, line, h('slot', { name: 'locked' }), h('div', { class: 'row' }, forgot));
  void countDown(line, words.locked_until, state.countdown, signal).then(() => signal.aborted || state.back());
  return { node, focus: () => focusHeading(node) };
}

function blockedView({ words }: Context, state: LoginBlocked): View {
  const text = h('p', {}, state.reason === 'account_locked' ? words.locked_for_good : words.suspended);
  const restart = link(words.start_again, () => state.restart());
  const node = card(words.sign_in, h('slot', { name: 'locked' }, text), h('div', { class: 'row' }, restart));
  return { node, focus: () => focusHeading(node) };
}
