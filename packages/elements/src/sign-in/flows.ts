import {
  cancelPinRecovery,
  createRecovery,
  createRegistration,
  type FlowCode,
  type Identity,
  isPosternError,
  type LoginIssue,
  type RecoveryDone,
  type RecoveryNewPassword,
  type RecoveryNewPin,
  type RecoveryStart,
  type RecoveryState,
  type RegistrationDetails,
  type RegistrationDone,
  type RegistrationState,
  type Store,
} from '@postern/client';
import { anySignal } from '@postern/client/internal';
import { type Child, element, linkButton, replaceContent } from '../base/dom.js';
import { createForm, type FieldOptions, type Form } from '../base/form.js';
import { fill } from '../base/texts.js';
import { addressField } from './address-field.js';
import { codeView, type StepView } from './code-view.js';
import { withLaterTexts } from './later-texts.js';
import { button, type Context, card, type Flow, type LaterContext, showLoginIssue, type View } from './views.js';

/** The view of a recovery or a registration: the address, then the code alone, then what is new. */
export function flowView(shown: Context, flow: Flow): View {
  const context: LaterContext = { ...shown, words: withLaterTexts(shown.words) };
  const { flows, postern } = context;
  if (flow === 'register') {
    flows.register ??= createRegistration(postern, { resume: true });
    return machineView(context, flows.register, registrationView, (state) => afterRegistration(context, state));
  }
  flows.recover ??= createRecovery(postern, { resume: true });
  const purpose = flow === 'recover_pin' ? 'pin' : 'password';
  return machineView(
    context,
    flows.recover,
    (own, state) => recoveryView(own, state, purpose),
    (state) => afterRecovery(context, state),
  );
}

interface FlowState {
  readonly step: string;
  readonly busy: boolean;
  readonly issue: LoginIssue | null;
}

/** Shows the view of each step of a state machine. */
function machineView<S extends FlowState>(
  context: LaterContext,
  machine: Store<S>,
  viewOf: (context: LaterContext, state: Exclude<S, { readonly step: 'done' }>) => StepView<S>,
  onDone: (state: Extract<S, { readonly step: 'done' }>) => void,
): View {
  const node = element('div');
  let shownStep: string | undefined;
  let view: StepView<S> | undefined;
  let controller = new AbortController();
  const show = (state: S) => {
    const { issue, step } = state;
    if (issue?.kind === 'failed') context.report(issue.error);
    if (step === 'done') return onDone(state as Extract<S, { readonly step: 'done' }>);
    if (step === shownStep) return view?.update(state);
    const hadFocus = shownStep !== undefined && node.matches(':focus-within');
    shownStep = step;
    controller.abort();
    controller = new AbortController();
    const own = { ...context, signal: anySignal(context.signal, controller.signal) };
    view = viewOf(own, state as Exclude<S, { readonly step: 'done' }>);
    replaceContent(node, view.node);
    if (hadFocus) view.focus();
  };
  context.signal.addEventListener('abort', machine.subscribe(show));
  return { node, focus: () => view?.focus() };
}

/** The view of a step with a form. */
function formView<S extends FlowState>(
  context: LaterContext,
  first: S,
  options: {
    readonly title: string;
    readonly fields: readonly FieldOptions[];
    readonly submit: string;
    readonly onSubmit: (state: S, values: Readonly<Record<string, string>>) => Promise<unknown>;
    readonly wrong: string;
    readonly before: Child;
    readonly after: (current: () => S) => readonly Child[];
  },
): StepView<S> {
  const { words } = context;
  let state = first;
  const form = createForm({
    words,
    fields: options.fields,
    submit: options.submit,
    labelledBy: 'heading',
    onSubmit: (values) => options.onSubmit(state, values),
  });
  const node = card(options.title, options.before, form.node, ...options.after(() => state));
  const update = (next: S) => {
    state = next;
    form.setBusy(next.busy);
    void showLoginIssue(next.issue, form, context, options.wrong);
  };
  update(first);
  return { node, update, focus: form.focus };
}

const row = (...links: readonly Child[]) => element('div', { class: 'row' }, ...links);
const lead = (text: string) => element('p', { class: 'lead muted', part: 'hint' }, text);

/** Asks for the address that gets the code. */
function addressView<S extends FlowState>(
  context: LaterContext,
  first: S,
  types: readonly string[],
  { title, hint }: { readonly title: string; readonly hint: string },
  begin: (state: S, identity: string) => Promise<unknown>,
  leave: () => unknown,
  other: Child = null,
): StepView<S> {
  const { words, input, showFlow } = context;
  const value = /@|^\+?[\d\s()./-]{5,}$/.test(input.identity) ? input.identity : '';
  const field = addressField(words, types, value);
  return formView(context, first, {
    title,
    fields: [field],
    submit: words.continue,
    wrong: words.wrong,
    before: lead(hint),
    onSubmit(state, { identity = '' }) {
      input.identity = identity.trim();
      return begin(state, identity);
    },
    after() {
      const back = () => {
        // Also ends a request on its way, such as one that waits for a human check.
        leave();
        showFlow(null);
      };
      return [row(linkButton(words.back, back), other)];
    },
  });
}

/** Asks for the code that cancels a recovered PIN: it is in the message about the new PIN, which may come from somebody else. */
function cancelPinView(context: LaterContext): StepView<unknown> {
  const { words, input, postern, signal, showFlow } = context;
  const form: Form = createForm({
    words,
    submit: words.cancel_pin,
    labelledBy: 'heading',
    fields: [
      { name: 'identity', kind: 'identity', label: words.identity, value: input.identity },
      { name: 'code', kind: 'text', label: words.code },
    ],
    async onSubmit({ identity = '', code = '' }) {
      try {
        await cancelPinRecovery(postern, { identity: identity.trim(), code: code.trim() }, { signal });
        if (!signal.aborted) showFlow(null, words.pin_cancelled);
      } catch (error) {
        if (signal.aborted) return;
        if (!isPosternError(error) || error.kind === 'usage') throw error;
        context.report(error);
        const { showError } = await import('../base/errors.js');
        await showError(form, error, words, signal);
      }
    },
  });
  const back = linkButton(words.back, () => showFlow('recover_pin'));
  return {
    node: card(words.cancel_pin, lead(words.cancel_pin_hint), form.node, row(back)),
    update: () => undefined,
    focus: form.focus,
  };
}

/** Asks for the code alone. The address keeps its direction in texts of any language. */
function flowCodeView<S>(context: LaterContext, first: FlowCode<S, S>, text: string): StepView<FlowCode<S, S>> {
  const { words, input } = context;
  input.identity = first.identity.value;
  const to = `\u2068${first.identity.value}\u2069`;
  return codeView(context, first, { lead: fill(text, { to }), submit: words.continue, back: words.back });
}

/** The address whose code was right: users and password managers see what the new secret belongs to. */
const chosen = ({ words }: LaterContext, { value }: Identity, change: () => unknown) =>
  element('div', { class: 'chosen', part: 'identity' }, element('bdi', {}, value), linkButton(words.change, change));
const hiddenIdentity = ({ words }: LaterContext, { value }: Identity): FieldOptions => ({
  name: 'identity',
  kind: 'identity',
  label: words.address,
  value,
  isHidden: true,
});
const newPassword = ({ words, offered }: LaterContext, label: string): FieldOptions => {
  const hint = fill(words.password_hint, { count: offered.password.min_length });
  return { name: 'password', kind: 'new-password', label, hint };
};
const newPin = ({ words, offered }: LaterContext): FieldOptions => {
  const hint = fill(words.pin_hint, { min: offered.pin.min_length, max: offered.pin.max_length });
  return { name: 'pin', kind: 'new-pin', label: words.new_pin, hint };
};

function registrationView(
  context: LaterContext,
  state: Exclude<RegistrationState, RegistrationDone>,
): StepView<RegistrationState> {
  const { words, offered, flows, language } = context;
  if (state.step === 'code') return flowCodeView(context, state, words.register_sent) as StepView<RegistrationState>;
  if (state.step === 'details') return detailsView(context, state, () => flows.register?.start());
  const texts = { title: words.register, hint: words.register_hint };
  const { identity_types: types } = offered.registration;
  return addressView(
    context,
    state,
    types,
    texts,
    (current, identity) => current.begin({ identity, locale: language }),
    () => flows.register?.start(),
  ) as StepView<RegistrationState>;
}

function detailsView(
  context: LaterContext,
  first: RegistrationDetails,
  restart: () => unknown,
): StepView<RegistrationState> {
  const { words, authenticators, pin, offered, input } = context;
  const hasPassword = authenticators.includes('password');
  const rule = offered.pin.policy === 'off' ? 'hidden' : (pin ?? 'optional');
  const optionalPin = { ...newPin(context), isOptional: true, reveal: words.add_pin };
  const view = formView(context, first, {
    title: words.register,
    submit: words.register,
    wrong: words.wrong,
    before: chosen(context, first.identity, restart),
    fields: [
      hiddenIdentity(context, first.identity),
      { name: 'name', kind: 'name', label: words.name, isOptional: true },
      ...(hasPassword ? [newPassword(context, words.password)] : []),
      ...(rule === 'hidden' ? [] : [rule === 'required' ? newPin(context) : optionalPin]),
    ],
    onSubmit(state, { name = '', password = '', pin: chosenPin = '' }) {
      input.usedAuthenticator = password ? 'password' : undefined;
      return state.submit({
        ...(name.trim() && { name: name.trim() }),
        ...(password && { password }),
        pin: chosenPin,
      });
    },
    after(current) {
      if (!authenticators.includes('passkey')) return [];
      const usePasskey = () => {
        const state = current();
        if (state.busy) return;
        input.usedAuthenticator = 'passkey';
        const name = view.node.querySelector<HTMLInputElement>('[name=name]')?.value.trim();
        void state.passkey(name ? { name } : {});
      };
      return [
        element('div', { class: 'or muted small', part: 'divider' }, words.or),
        button(words.register_passkey, usePasskey),
      ];
    },
  });
  return view as StepView<RegistrationState>;
}

function afterRegistration(context: LaterContext, { user_id, device_id }: RegistrationDone): void {
  const { flows, input, words, showFlow } = context;
  flows.register?.start();
  if (device_id !== null) {
    context.finish({ user_id, device_id }, input.usedAuthenticator);
    return;
  }
  showSignIn(context);
  showFlow(null, words.registered);
}

/** The sign-in then asks for the password of the address. */
function showSignIn({ authenticators, input }: LaterContext): void {
  if (authenticators.includes('password')) Object.assign(input, { authenticator: 'password', page: 'password' });
}

function recoveryView(
  context: LaterContext,
  state: Exclude<RecoveryState, RecoveryDone>,
  purpose: 'password' | 'pin',
): StepView<RecoveryState> {
  const { words, offered, flows } = context;
  const title = purpose === 'pin' ? words.recover_pin : words.recover_password;
  if (state.step === 'code') return flowCodeView(context, state, words.recover_sent) as StepView<RecoveryState>;
  if (state.step === 'start') {
    const { identity_types: types } = offered.recovery;
    const showCancel = () => {
      const other = cancelPinView(context);
      view.node.replaceWith(other.node);
      other.focus();
    };
    const begin = (current: RecoveryStart, identity: string) => current.begin({ identity, purpose });
    const leave = () => flows.recover?.start();
    const cancelLink = purpose === 'pin' && linkButton(words.cancel_pin, showCancel);
    const view = addressView(context, state, types, { title, hint: words.recover_hint }, begin, leave, cancelLink);
    return view as StepView<RecoveryState>;
  }
  const isPin = state.step === 'new_pin';
  const secret = isPin ? newPin(context) : newPassword(context, words.new_password);
  return formView<RecoveryNewPassword | RecoveryNewPin>(context, state, {
    title: isPin ? words.recover_pin : words.recover_password,
    submit: words.save,
    wrong: words.wrong,
    before: chosen(context, state.identity, () => flows.recover?.start()),
    fields: [hiddenIdentity(context, state.identity), secret],
    onSubmit: (current, { password = '', pin = '' }) =>
      current.step === 'new_pin' ? current.submit({ pin }) : current.submit({ password }),
    after: () => [],
  }) as StepView<RecoveryState>;
}

function afterRecovery(context: LaterContext, { recovered, effective_at }: RecoveryDone): void {
  const { words, language, flows, showFlow } = context;
  flows.recover?.start();
  if (recovered === 'password') showSignIn(context);
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const later = effective_at && fill(words.recovered_pin_later, { time: date.format(new Date(effective_at)) });
  showFlow(null, later || words.recovered);
}
