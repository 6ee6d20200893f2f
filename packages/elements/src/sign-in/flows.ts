import { isPosternError, startRecovery, startRegistration } from '@postern/client';
import { digitsOf, element, linkButton } from '../base/dom.js';
import { showError } from '../base/errors.js';
import { createForm, type FieldOptions, type Form } from '../base/form.js';
import { fill } from '../base/texts.js';
import { english } from './later-texts.js';
import { type Context, card, type Flow, type LaterContext, type View } from './views.js';

/**
 * The view of a recovery or a registration. Its first form asks for an address, and its second form for the code and the
 * new values.
 */
export function flowView(shown: Context, flow: Flow): View {
  const context: LaterContext = { ...shown, words: { ...english, ...shown.words } };
  return flow === 'register'
    ? registrationView(context)
    : recoveryView(context, flow === 'recover_pin' ? 'pin' : 'password');
}

/** A view of two forms. It shows the first one, and then the second one. */
function twoForms(
  context: LaterContext,
  title: string,
  hint: string,
  sent: string,
  first: Form,
): View & { showSecond(form: Form, to: string): void } {
  const { words, showFlow } = context;
  const introduction = element('p', { class: 'lead muted' }, hint);
  const node = card(
    title,
    introduction,
    first.node,
    element(
      'div',
      { class: 'row' },
      linkButton(words.back, () => showFlow(null)),
    ),
  );
  return {
    node,
    focus: first.focus,
    showSecond(form, to) {
      introduction.textContent = fill(sent, { to });
      first.node.replaceWith(form.node);
      form.focus();
    },
  };
}

/** Runs a request of a form, and shows its error there. */
async function attempt(context: LaterContext, form: () => Form, request: () => Promise<void>): Promise<void> {
  try {
    await request();
  } catch (error) {
    if (context.signal.aborted) return;
    if (!isPosternError(error) || error.kind === 'usage') throw error;
    context.report(error);
    await showError(form(), error, context.words, context.signal);
  }
}

const codeField = ({ words }: LaterContext): FieldOptions => ({ name: 'code', kind: 'code', label: words.code });
function newPassword({ words, offered }: LaterContext): FieldOptions {
  const hint = fill(words.password_hint, { count: offered.password.min_length });
  return { name: 'password', kind: 'new-password', label: words.new_password, hint };
}
function newPin({ words, offered }: LaterContext, isOptional: boolean): FieldOptions {
  const hint = fill(words.pin_hint, { min: offered.pin.min_length, max: offered.pin.max_length });
  return { name: 'pin', kind: 'new-pin', label: words.new_pin, hint, isOptional };
}
/** The field for an address of one of these types. */
function addressField({ words, input }: LaterContext, types: readonly string[]): FieldOptions {
  const value = /@|^\+?[\d\s()./-]{5,}$/.test(input.identity) ? input.identity : '';
  if (types.length > 1) return { name: 'identity', kind: 'identity', label: words.address, value };
  const isMail = types[0] !== 'phone';
  return { name: 'identity', kind: isMail ? 'email' : 'tel', label: isMail ? words.email : words.phone, value };
}

function recoveryView(context: LaterContext, purpose: 'password' | 'pin'): View {
  const { words, postern, offered, input, signal, showFlow } = context;
  const submit = words.continue;
  const form: Form = createForm({
    ...{ words, submit, labelledBy: 'heading', fields: [addressField(context, offered.recovery.identity_types)] },
    onSubmit: ({ identity = '' }) =>
      attempt(
        context,
        () => form,
        async () => {
          input.identity = identity.trim();
          const pending = await startRecovery(postern, { identity, purpose }, { signal });
          const second: Form = createForm({
            ...{ words, submit: words.save, labelledBy: 'heading' },
            fields: [codeField(context), purpose === 'pin' ? newPin(context, false) : newPassword(context)],
            onSubmit: ({ code = '', password = '', pin = '' }) =>
              attempt(
                context,
                () => second,
                async () => {
                  const secret = purpose === 'pin' ? pin : password;
                  const input = { code: digitsOf(code), password: secret, pin: secret, [purpose]: secret };
                  const { effective_at } = await pending.complete(requiredInput(input, purpose), { signal });
                  showFlow(null, effective_at === undefined ? words.recovered : pinLaterText(effective_at));
                },
              ),
          });
          view.showSecond(second, identity);
        },
      ),
  });
  const pinLaterText = (time: string) => {
    const date = new Intl.DateTimeFormat(context.language, { dateStyle: 'medium', timeStyle: 'short' });
    return fill(words.recovered_pin_later, { time: date.format(new Date(time)) });
  };
  const title = purpose === 'pin' ? words.recover_pin : words.recover_password;
  const view = twoForms(context, title, words.recover_hint, words.recover_sent, form);
  return view;
}

type RecoveryInput = { readonly code: string; readonly password: string; readonly pin: string };
/** Only the code and the secret that is recovered: the service refuses other members. */
function requiredInput(input: RecoveryInput, purpose: 'password' | 'pin'): RecoveryInput {
  const { code, [purpose]: secret } = input;
  return { code, [purpose]: secret } as RecoveryInput;
}

function registrationView(context: LaterContext): View {
  const { words, postern, offered, input, login, language, pin, signal, showFlow } = context;
  const hasPassword = context.ways.includes('password');
  const form: Form = createForm({
    ...{
      words,
      submit: words.continue,
      labelledBy: 'heading',
      fields: [addressField(context, offered.registration.identity_types)],
    },
    onSubmit: ({ identity = '' }) =>
      attempt(
        context,
        () => form,
        async () => {
          input.identity = identity.trim();
          const pending = await startRegistration(postern, { identity, locale: language }, { signal });
          const second: Form = createForm({
            ...{ words, submit: words.register, labelledBy: 'heading' },
            fields: [
              codeField(context),
              { name: 'name', kind: 'text', label: words.name, isOptional: true },
              { name: 'username', kind: 'identity', label: words.username, isOptional: true },
              ...(hasPassword ? [newPassword(context)] : []),
              ...(pin === 'hidden' || offered.pin.policy === 'off' ? [] : [newPin(context, pin !== 'required')]),
            ],
            onSubmit: ({ code = '', name = '', username = '', password = '', pin: chosen = '' }) =>
              attempt(
                context,
                () => second,
                async () => {
                  const names = {
                    ...(name.trim() && { name: name.trim() }),
                    ...(username.trim() && { username: username.trim() }),
                  };
                  const secrets = { ...(password && { password }), pin: chosen };
                  await pending.complete({ code: digitsOf(code), ...names, ...secrets }, { signal });
                  showFlow(null, words.registered);
                  if (password) await login.start().password({ identity, password, pin: chosen });
                },
              ),
          });
          view.showSecond(second, identity);
        },
      ),
  });
  const view = twoForms(context, words.register, words.register_hint, words.register_sent, form);
  return view;
}
