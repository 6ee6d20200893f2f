import type { LoginStart } from '@postern/client';
import { element, linkButton } from '../base/dom.js';
import { createForm, type FieldOptions, showBusy } from '../base/form.js';
import { fill } from '../base/texts.js';
import { authenticatorButtons } from './start-authenticators.js';
import { identityFields, isAddressFor, labelOf, passwordFields } from './start-fields.js';
import { type Context, card, isProvider, showLoginIssue, type View } from './views.js';

/** The first view: who the user is. For a password, a second page asks for it. */
export function startView(context: Context, first: LoginStart, notice: string | undefined): View {
  const { words, authenticators, input, offered, showFlow, signal } = context;
  let state = first;
  const withForm = authenticators.filter((authenticator) => authenticator !== 'passkey' && !isProvider(authenticator));
  const authenticator = withForm.find((name) => name === input.authenticator) ?? withForm[0];
  const asksPassword = authenticator === 'password' && input.page === 'password';
  const fields =
    authenticator === undefined ? [] : asksPassword ? passwordFields(context) : identityFields(authenticator, context);
  const form = createForm({
    words,
    fields,
    labelledBy: 'heading',
    submit: asksPassword ? words.sign_in : words.continue,
    async onSubmit({ identity = input.identity, password = '', pin, secret }) {
      input.identity = identity.trim();
      if (authenticator === undefined) return;
      if (authenticator === 'password' && !asksPassword) return showPage('password');
      if ((authenticator === 'email' || authenticator === 'sms') && !isAddressFor(authenticator, identity)) {
        form.showFieldErrors({ identity: authenticator === 'email' ? words.not_email : words.not_phone });
        return;
      }
      input.usedAuthenticator = authenticator;
      if (authenticator === 'password') await state.password({ identity, password, pin });
      else if (authenticator === 'sms' || authenticator === 'email') await sendCode(authenticator, identity);
      else await state.custom(authenticator, { identity: identity || undefined, secret, pin });
    },
  });
  const autofillAbort = new AbortController();
  signal.addEventListener('abort', () => autofillAbort.abort());

  const { nodes: buttons, hasVisible } = authenticatorButtons(context, authenticator, !asksPassword, choose);
  const guest = linkButton(words.guest, () => choose('guest', guest));
  const node = card(
    words.sign_in,
    element('slot', { name: 'before' }),
    notice !== undefined && element('p', { class: 'notice', part: 'notice', role: 'status' }, notice),
    asksPassword && chosenIdentity(),
    authenticator && form.node,
    context.recovery && recoveryLinks(context, form.node, fields, asksPassword),
    authenticator && hasVisible && element('div', { class: 'or muted small', part: 'divider' }, words.or),
    ...buttons,
    context.registration &&
      !asksPassword &&
      element(
        'p',
        { class: 'small new', part: 'hint' },
        `${words.new_here} `,
        linkButton(words.register, () => showFlow('register')),
      ),
    context.guests && !asksPassword && guest,
  );
  // Without a form, errors of passkeys are shown below the buttons.
  if (authenticator === undefined) node.insertBefore(form.node.querySelector('[role=alert]') as Node, node.lastChild);
  if (fields.some(({ autocomplete }) => autocomplete === 'webauthn')) {
    const offer = () => {
      for (const type of triggers) node.removeEventListener(type, offer);
      void import('./autofill.js').then(({ offerPasskeys }) => offerPasskeys(context, form, autofillAbort));
    };
    // A page that nobody uses sends no request.
    const triggers = ['pointerenter', 'focusin'];
    for (const type of triggers) node.addEventListener(type, offer);
  }

  function showPage(page: 'identity' | 'password', next = authenticator): void {
    Object.assign(input, { page, authenticator: next });
    showFlow(null);
  }

  /** The identity that was typed, also for password managers. */
  function chosenIdentity(): HTMLElement {
    const change = linkButton(words.change, () => showPage('identity'));
    return element('div', { class: 'chosen', part: 'identity' }, element('bdi', {}, input.identity), change);
  }

  let pressed: HTMLElement | undefined;
  function choose(name: string, chosen: HTMLElement): void {
    if (state.busy) return;
    const identity = node.querySelector<HTMLInputElement>('[name=identity]')?.value ?? input.identity;
    input.identity = identity.trim();
    input.usedAuthenticator = name;
    pressed = chosen;
    autofillAbort.abort();
    if (name === 'passkey') void state.passkey();
    else if (name === 'guest') void state.guest();
    else if (isProvider(name)) void askProvider(name);
    else if (isAddressFor(name, identity)) void sendCode(name, identity);
    else showPage('identity', name);
  }

  /** Goes to a provider, or asks the function of the page for an id_token. */
  function askProvider(name: string) {
    const option = offered.logins.find(({ authenticator }) => authenticator === name);
    if (option?.takes_redirect) return state.redirect(name as `oidc:${string}`);
    return state.oidc(name.slice('oidc:'.length));
  }
  /** If registration is on, a code for an unknown address creates an account. */
  function sendCode(name: 'sms' | 'email', identity: string) {
    const type = name === 'sms' ? 'phone' : 'email';
    const signUp = context.registration && offered.registration.identity_types.includes(type);
    return state[name]({ identity, signUp });
  }

  const update = (next: LoginStart) => {
    state = next;
    if (pressed) showBusy(pressed, next.busy);
    form.setBusy(next.busy, pressed);
    if (!next.busy) pressed = undefined;
    if (next.issue?.kind === 'wrong' && asksPassword) {
      form.clear('password');
      form.clear('pin');
      form.showFieldErrors({
        password: fill(words.wrong_password, { identity: labelOf(input.identity, context) }),
      });
    } else if (next.issue?.kind === 'cancelled' && isProvider(input.usedAuthenticator ?? '')) {
      form.showIssue(words.provider_cancelled);
    } else showLoginIssue(next.issue, form, context, words.wrong);
  };
  update(first);
  return { node, update: (next) => next.step === 'start' && update(next), focus: () => form.focus() };
}

/** Links to the recovery of the password or the PIN that the form asks for. */
function recoveryLinks(
  { words, showFlow }: Context,
  form: HTMLElement,
  fields: readonly FieldOptions[],
  asksPassword: boolean,
): HTMLElement | false | undefined {
  const pin = fields.find(({ name }) => name === 'pin');
  const pinLink = pin && linkButton(words.forgot_pin, () => showFlow('recover_pin'));
  // While the PIN is hidden, nobody asks for it.
  if (pinLink && pin.reveal) {
    pinLink.hidden = true;
    const showLink = () => {
      pinLink.hidden = false;
    };
    form.querySelector('[name=pin]')?.addEventListener('focus', showLink, { once: true });
  }
  const passwordLink = asksPassword && linkButton(words.forgot_password, () => showFlow('recover_password'));
  return (passwordLink || pinLink) && element('div', { class: 'row' }, passwordLink, pinLink);
}
