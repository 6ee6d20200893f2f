import type { LoginStart } from '@postern/client';
import { element } from '../base/dom.js';
import { createForm, type FieldOptions } from '../base/form.js';
import { fill } from '../base/texts.js';
import { button, type Context, card, link, providerTitle, showLoginIssue, type View } from './views.js';

/** The first view: one form, and buttons for the other ways. */
export function startView(context: Context, first: LoginStart, notice: string | undefined): View {
  const { words, ways, input, offered, showFlow } = context;
  let state = first;
  const waysWithForm = ways.filter((way) => way !== 'passkey' && !way.startsWith('oidc:'));
  const way = waysWithForm.find((name) => name === input.way) ?? waysWithForm[0];
  const fields = way === undefined ? [] : wayFields(way, context);
  const form = createForm({
    ...{ words, fields, labelledBy: 'heading', submit: way === 'password' ? words.sign_in : words.continue },
    async onSubmit({ identity = '', password = '', pin, secret }) {
      input.identity = identity.trim();
      if (way === 'password') await state.password({ identity, password, pin });
      else if (way === 'sms' || way === 'email') await state[way]({ identity });
      else if (way !== undefined) await state.custom(way, { identity: identity || undefined, secret, pin });
    },
  });
  const otherWays = ways.filter((name) => name !== way);
  const offersPasswordRecovery = way === 'password' && context.recovery;
  const offersPinRecovery = fields.some(({ name }) => name === 'pin') && context.recovery;
  const pinLink = offersPinRecovery && link(words.forgot_pin, () => showFlow('recover_pin'));
  const passwordLink = offersPasswordRecovery && link(words.forgot_password, () => showFlow('recover_password'));
  const node = card(
    words.sign_in,
    element('slot', { name: 'before' }),
    notice !== undefined && element('p', { class: 'notice', role: 'status' }, notice),
    way !== undefined && form.node,
    (passwordLink || pinLink) && element('div', { class: 'row' }, passwordLink, pinLink),
    way !== undefined && otherWays.length > 0 && element('div', { class: 'or muted small' }, words.or),
    otherWays.length > 0 && element('div', { class: 'others' }, ...otherWays.map((name) => otherButton(name))),
    context.registration &&
      element(
        'p',
        { class: 'small' },
        `${words.new_here} `,
        link(words.register, () => showFlow('register')),
      ),
  );
  // Without a form, errors of passkeys are shown below the buttons.
  if (way === undefined) node.insertBefore(form.node.querySelector('[role=alert]') as Node, node.lastChild);

  function otherButton(name: string): HTMLElement {
    const part = name.startsWith('oidc:') ? 'button button-provider' : 'button';
    return button(wayName(name, context), () => choose(name), part);
  }
  function choose(name: string): void {
    if (state.busy) return;
    const identityInput = node.querySelector<HTMLInputElement>('[name=identity]');
    input.identity = identityInput?.value ?? input.identity;
    if (name === 'passkey') void state.passkey();
    else if (name.startsWith('oidc:')) void state.oidc(name.slice('oidc:'.length));
    else {
      input.way = name;
      showFlow(null);
    }
  }

  const update = (next: LoginStart) => {
    state = next;
    form.setBusy(next.busy);
    showLoginIssue(next.issue, form, context, words.wrong);
    if (next.issue?.kind === 'wrong' && way === 'password') {
      form.clear('password');
      form.clear('pin');
    }
  };
  update(first);
  const hasIdentity = input.identity !== '' && fields.length > 1;
  return {
    node,
    update: (next) => next.step === 'start' && update(next),
    focus: () => (hasIdentity ? node.querySelector<HTMLElement>('[name=password]') : form)?.focus(),
  };

  function wayFields(name: string, { pin, identityTypes }: Context): FieldOptions[] {
    const option = offered.logins.find(({ authenticator }) => authenticator === name);
    const result: FieldOptions[] = [];
    const typedIdentity = input.identity;
    if (name === 'sms')
      result.push({
        name: 'identity',
        kind: 'tel',
        label: words.phone,
        value: typedIdentity.includes('@') ? '' : typedIdentity,
      });
    else if (name === 'email') {
      result.push({
        name: 'identity',
        kind: 'email',
        label: words.email,
        value: typedIdentity.includes('@') ? typedIdentity : '',
      });
    } else if (option === undefined || option.identity_types.length > 0) {
      result.push({ name: 'identity', kind: 'identity', label: identityLabel(identityTypes), value: typedIdentity });
    }
    if (name === 'password') result.push({ name: 'password', kind: 'password', label: words.password });
    else if (name.startsWith('custom:') && option?.steps === 1)
      result.push({ name: 'secret', kind: 'text', label: words.secret });
    // If a code is sent, the next step asks for the PIN.
    const isOneStep = name === 'password' || option?.steps === 1;
    if (isOneStep && option?.takes_pin !== false && pin !== 'hidden') {
      result.push({ name: 'pin', kind: 'pin', label: words.pin, isOptional: pin === 'optional' });
    }
    return result;
  }
  function identityLabel(types: readonly string[]): string {
    if (types.length > 1) return words.identity;
    return { email: words.email, phone: words.phone }[types[0] ?? ''] ?? words.username;
  }
}

function wayName(way: string, { words }: Context): string {
  const [kind, ...nameParts] = way.split(':');
  const name = nameParts.join(':');
  if (kind === 'oidc') return fill(words.use_provider, { provider: providerTitle(name) });
  const wayNames = {
    password: words.use_password,
    sms: words.use_sms,
    email: words.use_email,
    passkey: words.use_passkey,
  };
  return wayNames[kind as keyof typeof wayNames] ?? fill(words.use_custom, { authenticator: name || way });
}
