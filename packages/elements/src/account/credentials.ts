import type { PendingAddress } from '@postern/client';
import { element } from '../base/dom.js';
import { fill } from '../base/texts.js';
import type { Step } from './questions.js';
import { action, type Context, lines, row } from './sections.js';

export function profileSection({ words, account, client, change }: Context): HTMLElement {
  const name = account.name || words.none;
  const changeName: Step = {
    ...{ title: words.change_name, submit: words.save },
    fields: [{ name: 'name', kind: 'text', label: words.name, value: account.name, isOptional: true }],
    async act({ name: chosen = '' }) {
      await client.update({ name: chosen.trim() });
      return undefined;
    },
  };
  const changeUsername: Step = {
    ...{ title: words.change_username, submit: words.save },
    fields: [
      { name: 'username', kind: 'identity', label: words.username, value: account.username ?? '', isOptional: true },
    ],
    async act({ username = '' }) {
      await client.setUsername(username.trim() || null);
      return undefined;
    },
  };
  return lines(
    row(
      words.name,
      element('bdi', {}, name),
      action('name', words.change, words.name, () => change('name', 'update', changeName)),
    ),
    row(
      words.username,
      element('bdi', {}, account.username ?? words.none),
      action('username', words.change, words.username, () => change('username', 'set_username', changeUsername)),
    ),
  );
}

export function passwordSection({ words, account, client, offered, change }: Context): HTMLElement {
  const hint = fill(words.password_hint, { count: offered.password.min_length });
  const step: Step = {
    ...{ title: words.change_password, submit: words.save },
    lead: [element('p', { class: 'muted' }, words.change_password_hint)],
    fields: [{ name: 'password', kind: 'new-password', label: words.new_password, hint }],
    async act({ password = '' }) {
      await client.setPassword(password);
      return undefined;
    },
  };
  const text = account.has_password ? words.change : words.set;
  const state = account.has_password ? words.is_set : words.not_set;
  return lines(
    row(
      words.password,
      state,
      action('password', text, words.password, () => change('password', 'set_password', step)),
    ),
  );
}

export function pinSection(context: Context): HTMLElement {
  const { words, account, client, offered, language, change } = context;
  const { has_pin: hasPin, pin_recovery: recovery } = account;
  const hint = fill(words.pin_hint, { min: offered.pin.min_length, max: offered.pin.max_length });
  const set: Step = {
    ...{ title: words.change_pin, submit: words.save },
    fields: [{ name: 'pin', kind: 'new-pin', label: words.new_pin, hint }],
    async act({ pin = '' }) {
      await client.setPin(pin);
      return undefined;
    },
  };
  const remove: Step = {
    ...{
      title: words.remove_pin,
      submit: words.remove,
      isDangerous: true,
      lead: [element('p', {}, words.remove_pin_hint)],
    },
    async act() {
      await client.removePin();
      return undefined;
    },
  };
  const cancel: Step = {
    ...{ title: words.cancel_pin, submit: words.cancel_pin, lead: [element('p', {}, words.cancel_pin_hint)] },
    async act() {
      await client.cancelPinRecovery();
      return undefined;
    },
  };
  const time = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const text = hasPin ? words.change : words.set;
  return lines(
    row(
      words.pin,
      hasPin ? words.is_set : words.not_set,
      action('pin', text, words.pin, () => change('pin', 'set_pin', set)),
      hasPin && action('pin-remove', words.remove, words.pin, () => change('pin', 'remove_pin', remove), true),
    ),
    recovery &&
      row(
        words.pending_pin,
        fill(words.pending_pin_hint, { time: time.format(new Date(recovery.effective_at)) }),
        action(
          'pin-cancel',
          words.cancel_pin,
          words.pending_pin,
          () => change('pin', 'cancel_pin_recovery', cancel),
          true,
        ),
      ),
  );
}

export function addressSection({ words, account, client, change }: Context): HTMLElement {
  const line = (type: 'email' | 'phone') => {
    const name = words[type];
    const current = account[type];
    const confirm = (pending: PendingAddress, to: string): Step => ({
      ...{ title: words.confirm_address, submit: words.continue },
      lead: [element('p', { class: 'muted' }, fill(words.code_sent_to, { to }))],
      fields: [{ name: 'code', kind: 'code', label: words.code }],
      async act({ code = '' }) {
        await pending.confirm(code.replace(/\s/g, ''));
        return undefined;
      },
    });
    const set: Step = {
      ...{ title: fill(words.change_address, { name }), submit: words.continue },
      lead: [element('p', { class: 'muted' }, words.change_address_hint)],
      fields: [{ name: type, kind: type === 'email' ? 'email' : 'tel', label: name }],
      async act({ [type]: value = '' }) {
        const address = value.trim();
        return confirm(type === 'email' ? await client.setEmail(address) : await client.setPhone(address), address);
      },
    };
    const remove: Step = {
      ...{ title: fill(words.remove_address, { name }), submit: words.remove, isDangerous: true },
      lead: [element('p', {}, words.remove_address_hint)],
      async act() {
        if (type === 'email') await client.removeEmail();
        else await client.removePhone();
        return undefined;
      },
    };
    return row(
      name,
      current === null ? words.none : element('bdi', { dir: 'ltr' }, current),
      action(type, current === null ? words.add : words.change, name, () => change(type, `set_${type}`, set)),
      current !== null &&
        action(`${type}-remove`, words.remove, name, () => change(type, `remove_${type}`, remove), true),
    );
  };
  return lines(line('email'), line('phone'));
}
