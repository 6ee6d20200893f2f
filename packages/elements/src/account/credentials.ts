import { type Child, element } from '../base/dom.js';
import { fill } from '../base/texts.js';
import { loadSecrets } from './load-secrets.js';
import type { Step } from './questions.js';
import { action, type Context, lines, row } from './sections.js';

export function profileSection({ words, account, client, change }: Context): HTMLElement {
  const name = account.name || words.none;
  const nameStep: Step = {
    title: words.change_name,
    submit: words.save,
    fields: [{ name: 'name', kind: 'text', label: words.name, value: account.name, isOptional: true }],
    async onSubmit({ name: chosen = '' }) {
      await client.update({ name: chosen.trim() });
      return undefined;
    },
  };
  const usernameStep: Step = {
    title: words.change_username,
    submit: words.save,
    fields: [
      { name: 'username', kind: 'identity', label: words.username, value: account.username ?? '', isOptional: true },
    ],
    async onSubmit({ username = '' }) {
      await client.setUsername(username.trim() || null);
      return undefined;
    },
  };
  return lines(
    row(
      words.name,
      element('bdi', {}, name),
      action('name', words.change, words.name, () => change('name', 'update', nameStep)),
    ),
    row(
      words.username,
      element('bdi', {}, account.username ?? words.none),
      action('username', words.change, words.username, () => change('username', 'set_username', usernameStep)),
    ),
  );
}

export function passwordRow({ words, account, client, offered, change }: Context): HTMLElement {
  const hint = fill(words.password_hint, { count: offered.password.min_length });
  const step: Step = {
    title: words.change_password,
    submit: words.save,
    introduction: [element('p', { class: 'muted', part: 'hint' }, words.change_password_hint)],
    fields: [
      ...(account.has_password
        ? [{ name: 'current_password', kind: 'password', label: words.current_password } as const]
        : []),
      { name: 'password', kind: 'new-password', label: words.new_password, hint },
    ],
    async onSubmit({ password = '', current_password: currentPassword }) {
      await client.setPassword(password, { currentPassword });
      return undefined;
    },
  };
  const text = account.has_password ? words.change : words.set;
  const state = account.has_password ? words.is_set : words.not_set;
  return row(
    words.password,
    state,
    action('password', text, words.password, () => change('password', 'set_password', step)),
  );
}

/** No rows if the service has no PINs. */
export function pinRows(context: Context): readonly Child[] {
  const { words, account, client, offered, language, change } = context;
  const { has_pin: hasPin, pin_recovery: recovery } = account;
  if (offered.pin.policy === 'off' && !hasPin) return [];
  const hint = fill(words.pin_hint, { min: offered.pin.min_length, max: offered.pin.max_length });
  const setStep: Step = {
    title: words.change_pin,
    submit: words.save,
    fields: [{ name: 'pin', kind: 'new-pin', label: words.new_pin, hint }],
    async onSubmit({ pin = '' }) {
      await client.setPin(pin);
      return undefined;
    },
  };
  const removeStep: Step = {
    title: words.remove_pin,
    submit: words.remove,
    isDangerous: true,
    introduction: [element('p', { part: 'hint' }, words.remove_pin_hint)],
    async onSubmit() {
      await client.removePin();
      return undefined;
    },
  };
  const cancelStep: Step = {
    title: words.cancel_pin,
    submit: words.cancel_pin,
    introduction: [element('p', { part: 'hint' }, words.cancel_pin_hint)],
    async onSubmit() {
      await client.cancelPinRecovery();
      return undefined;
    },
  };
  const time = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const text = hasPin ? words.change : words.set;
  return [
    row(
      words.pin,
      hasPin ? words.is_set : words.not_set,
      action('pin', text, words.pin, () => change('pin', 'set_pin', setStep)),
      hasPin && action('pin-remove', words.remove, words.pin, () => change('pin', 'remove_pin', removeStep), true),
    ),
    recovery &&
      row(
        words.pending_pin,
        fill(words.pending_pin_hint, { time: time.format(new Date(recovery.effective_at)) }),
        action(
          'pin-cancel',
          words.cancel_pin,
          words.pending_pin,
          () => change('pin', 'cancel_pin_recovery', cancelStep),
          true,
        ),
      ),
  ];
}

export function addressSection(context: Context): HTMLElement {
  const { words, account, client, change } = context;
  const addressRow = (type: 'email' | 'phone') => {
    const name = words[type];
    const current = account[type];
    const setStep: Step = {
      title: fill(words.change_address, { name }),
      submit: words.continue,
      introduction: [element('p', { class: 'muted', part: 'hint' }, words.change_address_hint)],
      fields: [{ name: type, kind: type === 'email' ? 'email' : 'tel', label: name }],
      async onSubmit({ [type]: value = '' }) {
        const address = value.trim();
        const { confirmAddress } = await loadSecrets();
        const pending = type === 'email' ? client.setEmail(address) : client.setPhone(address);
        return confirmAddress(context, await pending, address);
      },
    };
    const removeStep: Step = {
      title: fill(words.remove_address, { name }),
      submit: words.remove,
      isDangerous: true,
      introduction: [element('p', { part: 'hint' }, words.remove_address_hint)],
      async onSubmit() {
        if (type === 'email') await client.removeEmail();
        else await client.removePhone();
        return undefined;
      },
    };
    return row(
      name,
      current === null ? words.none : element('bdi', { dir: 'ltr' }, current),
      action(type, current === null ? words.add : words.change, name, () => change(type, `set_${type}`, setStep)),
      current !== null &&
        action(`${type}-remove`, words.remove, name, () => change(type, `remove_${type}`, removeStep), true),
    );
  };
  return lines(addressRow('email'), addressRow('phone'));
}
