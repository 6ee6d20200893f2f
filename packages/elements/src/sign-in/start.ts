import type { LoginStart } from '@postern/client';
import { element, linkButton, replaceContent } from '../base/dom.js';
import { createForm, type FieldOptions, showBusy } from '../base/form.js';
import { fill } from '../base/texts.js';
import { button, type Context, card, isProvider, pinField, showLoginIssue, type View } from './views.js';

/** Text that can be a mail address, or a phone number. */
const addressForms = { email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/, sms: /^\+?[\d\s()./-]{5,}$/ } as const;
const isAddressFor = (way: string, text: string) =>
  (way === 'email' || way === 'sms') &&
  addressForms[way].test(text.replace(/[\u00ad\u061c\u200b-\u200f\u202a-\u202d\u2060-\u2069]/g, '').trim());

/** The first view: who the user is. For a password, a second page asks for it. */
export function startView(context: Context, first: LoginStart, notice: string | undefined): View {
  const { words, ways, input, offered, showFlow, signal } = context;
  let state = first;
  const waysWithForm = ways.filter((way) => way !== 'passkey' && !isProvider(way));
  const way = waysWithForm.find((name) => name === input.way) ?? waysWithForm[0];
  const asksPassword = way === 'password' && input.page === 'password';
  const fields = way === undefined ? [] : wayFields(way);
  const form = createForm({
    ...{ words, fields, labelledBy: 'heading', submit: asksPassword ? words.sign_in : words.continue },
    async onSubmit({ identity = input.identity, password = '', pin, secret }) {
      input.identity = identity.trim();
      if (way === undefined) return;
      if (way === 'password' && !asksPassword) return showPage('password');
      if ((way === 'email' || way === 'sms') && !isAddressFor(way, identity)) {
        form.showFieldErrors({ identity: way === 'email' ? words.not_email : words.not_phone });
        return;
      }
      input.usedWay = way;
      if (way === 'password') await state.password({ identity, password, pin });
      else if (way === 'sms' || way === 'email') await sendCode(way, identity);
      else await state.custom(way, { identity: identity || undefined, secret, pin });
    },
  });
  const autofillAbort = new AbortController();
  signal.addEventListener('abort', () => autofillAbort.abort());

  const { lastWay } = input;
  const providers = asksPassword ? [] : ways.filter(isProvider);
  const otherWays = ways.filter((name) => name !== way && !isProvider(name));
  // The way that the page prefers, and the one that this browser used last, need no click.
  const shownWays = otherWays.filter((name) => way === undefined || name === lastWay || name === ways[0]);
  const hiddenWays = otherWays.filter((name) => !shownWays.includes(name));
  const shownButtons = shownWays.map((name) => wayButton(name));
  const others = element('div', { class: 'others', id: 'others', hidden: true });
  const toggle = linkButton(words.other_ways, () => {
    others.hidden = !others.hidden;
    toggle.setAttribute('aria-expanded', `${!others.hidden}`);
  });
  toggle.setAttribute('aria-expanded', 'false');
  toggle.setAttribute('aria-controls', 'others');
  replaceContent(others, ...hiddenWays.map((name) => wayButton(name)));

  const providerBox = element('div', { class: providers.length > 3 ? 'others two' : 'others' });
  if (providers.length > 0) void showProviders();
  const hasPin = fields.some(({ name }) => name === 'pin');
  const pinLink = hasPin && context.recovery && linkButton(words.forgot_pin, () => showFlow('recover_pin'));
  // While the PIN is hidden, nobody asks for it.
  if (pinLink && fields.some(({ name, reveal }) => name === 'pin' && reveal !== undefined)) {
    pinLink.hidden = true;
    const showLink = () => {
      pinLink.hidden = false;
    };
    form.node.querySelector('[name=pin]')?.addEventListener('focus', showLink, { once: true });
  }
  const passwordLink =
    asksPassword && context.recovery && linkButton(words.forgot_password, () => showFlow('recover_password'));
  const guest = linkButton(words.guest, () => choose('guest', guest));
  const visibleOthers = providers.length > 0 || shownButtons.length > 0;
  const node = card(
    words.sign_in,
    element('slot', { name: 'before' }),
    notice !== undefined && element('p', { class: 'notice', part: 'notice', role: 'status' }, notice),
    asksPassword && chosenIdentity(),
    way !== undefined && form.node,
    (passwordLink || pinLink) && element('div', { class: 'row' }, passwordLink, pinLink),
    way !== undefined && visibleOthers && element('div', { class: 'or muted small', part: 'divider' }, words.or),
    providers.length > 0 && providerBox,
    shownButtons.length > 0 && element('div', { class: 'others' }, ...shownButtons),
    hiddenWays.length > 0 && toggle,
    hiddenWays.length > 0 && others,
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
  if (way === undefined) node.insertBefore(form.node.querySelector('[role=alert]') as Node, node.lastChild);
  if (fields.some(({ autocomplete }) => autocomplete === 'webauthn')) {
    const offer = () => {
      for (const type of triggers) node.removeEventListener(type, offer);
      void import('./autofill.js').then(({ offerPasskeys }) => offerPasskeys(context, form, autofillAbort));
    };
    // A page that nobody uses sends no request.
    const triggers = ['pointerenter', 'focusin'];
    for (const type of triggers) node.addEventListener(type, offer);
  }

  function showPage(page: 'identity' | 'password', nextWay = way): void {
    Object.assign(input, { page, way: nextWay });
    showFlow(null);
  }

  /** The identity that was typed, also for password managers. */
  function chosenIdentity(): HTMLElement {
    const change = linkButton(words.change, () => showPage('identity'));
    return element('div', { class: 'chosen', part: 'identity' }, element('bdi', {}, input.identity), change);
  }

  async function showProviders(): Promise<void> {
    const { providerButton } = await import('./providers.js');
    if (signal.aborted) return;
    replaceContent(
      providerBox,
      ...providers.map((name) =>
        withTag(
          name,
          providerButton(context, name, providers.length > 3, (pressed) => choose(name, pressed)),
        ),
      ),
    );
  }
  function wayButton(name: string): HTMLElement {
    const result = button(wayName(name, context), () => choose(name, result));
    return withTag(name, result);
  }
  function withTag(name: string, node: HTMLElement): HTMLElement {
    if (name === lastWay) node.append(element('span', { class: 'tag', part: 'tag' }, words.last_way));
    return node;
  }
  let pressed: HTMLElement | undefined;
  function choose(name: string, chosen: HTMLElement): void {
    if (state.busy) return;
    const identity = node.querySelector<HTMLInputElement>('[name=identity]')?.value ?? input.identity;
    input.identity = identity.trim();
    input.usedWay = name;
    pressed = chosen;
    autofillAbort.abort();
    if (name === 'passkey') void state.passkey();
    else if (name === 'guest') void state.guest();
    else if (isProvider(name)) void askProvider(name);
    else if ((name === 'sms' || name === 'email') && isAddressFor(name, identity)) void sendCode(name, identity);
    else showPage('identity', name);
  }

  /** Goes to a provider, or asks the function of the page for an id_token. */
  function askProvider(name: string) {
    const option = offered.logins.find(({ authenticator }) => authenticator === name);
    if (option?.takes_redirect) return state.redirect(name as `oidc:${string}`);
    return state.oidc(name.slice('oidc:'.length));
  }
  /** With a registration, the code of an address that nobody has makes an account. */
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
        password: fill(words.wrong_password, { identity: identityLabel(typesOf(input.identity)) }),
      });
    } else if (next.issue?.kind === 'cancelled' && isProvider(input.usedWay ?? '')) {
      form.showIssue(words.provider_cancelled);
    } else showLoginIssue(next.issue, form, context, words.wrong);
  };
  update(first);
  return { node, update: (next) => next.step === 'start' && update(next), focus: () => form.focus() };

  function wayFields(name: string): FieldOptions[] {
    const option = offered.logins.find(({ authenticator }) => authenticator === name);
    const { identity } = input;
    if (asksPassword) {
      return [
        {
          name: 'identity',
          kind: 'identity',
          label: identityLabel(context.identityTypes),
          value: identity,
          isHidden: true,
        },
        { name: 'password', kind: 'password', label: words.password },
        ...pinField(context, option, 1),
      ];
    }
    const autocomplete = ways.includes('passkey') ? 'webauthn' : undefined;
    const identityField = { name: 'identity', autocomplete } as const;
    if (name === 'sms') {
      return [{ ...identityField, kind: 'tel', label: words.phone, value: identity.includes('@') ? '' : identity }];
    }
    if (name === 'email') {
      return [{ ...identityField, kind: 'email', label: words.email, value: identity.includes('@') ? identity : '' }];
    }
    const isOneStep = option?.steps === 1;
    const takesIdentity = option === undefined || option.identity_types.length > 0;
    const types = name === 'password' ? context.identityTypes : (option?.identity_types ?? context.identityTypes);
    return [
      ...(takesIdentity
        ? [{ ...identityField, kind: 'identity', label: identityLabel(types), value: identity } as const]
        : []),
      ...(name !== 'password' && isOneStep ? [{ name: 'secret', kind: 'text', label: words.secret } as const] : []),
      // If a code is sent, the next step asks for the PIN.
      ...(name !== 'password' && isOneStep ? pinField(context, option, 1) : []),
    ];
  }
  function identityLabel(types: readonly string[]): string {
    if (types.length === 2 && !types.includes('username')) return words.address;
    if (types.length === 2 && !types.includes('phone')) return words.email_or_username;
    if (types.length > 1) return words.identity;
    return { email: words.email, phone: words.phone }[types[0] ?? ''] ?? words.username;
  }
  function typesOf(identity: string): readonly string[] {
    return [identity.includes('@') ? 'email' : isAddressFor('sms', identity) ? 'phone' : 'username'];
  }
}

function wayName(way: string, { words }: Context): string {
  const [kind, ...nameParts] = way.split(':');
  const wayNames = {
    password: words.use_password,
    sms: words.use_sms,
    email: words.use_email,
    passkey: words.use_passkey,
  };
  return (
    wayNames[kind as keyof typeof wayNames] ?? fill(words.use_custom, { authenticator: nameParts.join(':') || way })
  );
}
