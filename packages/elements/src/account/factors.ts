import type { ExternalIdentity, Passkey, PendingTotp } from '@postern/client';
import { h } from '../base/dom.js';
import { fill } from '../base/texts.js';
import type { Step } from './questions.js';
import { action, type Context, lines, row } from './sections.js';

const svg = 'http://www.w3.org/2000/svg';

/**
 * A QR code: black on white in every theme, because many apps cannot read others. Null if the text is too long, or if the
 * encoder cannot be loaded: the user can then type the key.
 */
async function picture(text: string, label: string): Promise<SVGElement | null> {
  const encoder = await import('../base/qr.js').catch(() => null);
  const rows = encoder?.qrCode(text) ?? null;
  if (rows === null) return null;
  const margin = 4;
  const size = rows.length + 2 * margin;
  const squares = rows.flatMap((cells, y) =>
    cells.flatMap((dark, x) => (dark ? [`M${x + margin} ${y + margin}h1v1h-1z`] : [])),
  );
  const image = document.createElementNS(svg, 'svg');
  const path = document.createElementNS(svg, 'path');
  path.setAttribute('d', squares.join(''));
  image.append(path);
  const attributes = { viewBox: `0 0 ${size} ${size}`, class: 'qr', part: 'qr', role: 'img', 'aria-label': label };
  for (const [name, value] of Object.entries(attributes)) image.setAttribute(name, value);
  return image;
}

/** Shows recovery codes, which the service never shows again. */
function showCodes({ words }: Context, codes: readonly string[]): Step {
  const list = h(
    'ul',
    { class: 'codes', part: 'recovery-codes' },
    ...codes.map((code) => h('li', { dir: 'ltr' }, code)),
  );
  const copy = h('button', { type: 'button', class: 'link small', part: 'link' }, words.copy);
  copy.addEventListener('click', () => {
    navigator.clipboard?.writeText(codes.join('\n')).then(
      () => {
        copy.textContent = words.copied;
      },
      () => getSelection()?.selectAllChildren(list),
    );
  });
  return {
    ...{ title: words.recovery_codes, submit: words.codes_saved },
    lead: [h('p', {}, words.recovery_codes_once), list, h('div', { class: 'links' }, copy)],
    act: async () => undefined,
  };
}

export async function factorSection(context: Context): Promise<HTMLElement> {
  const { words, account, client, change, language, signal } = context;
  const passkeys = await client.listPasskeys({ signal });
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
  const hasApp = account.second_factors.some(({ type }) => type === 'totp');

  const confirm = async (pending: PendingTotp): Promise<Step> => ({
    ...{ title: words.authenticator_app, submit: words.continue },
    lead: [
      h('p', {}, words.scan_qr),
      await picture(pending.uri, words.qr),
      h('p', { class: 'small' }, `${words.or_type} `, h('code', { class: 'secret', dir: 'ltr' }, pending.secret)),
    ],
    fields: [{ name: 'code', kind: 'code', label: words.authenticator_code }],
    async act({ code = '' }) {
      const { recovery_codes } = await pending.confirm(code.replace(/\s/g, ''));
      return showCodes(context, recovery_codes);
    },
  });
  const enrol: Step = {
    ...{ title: words.authenticator_app, submit: words.continue, lead: [h('p', { class: 'muted' }, words.app_hint)] },
    act: async () => confirm(await client.enrolTotp()),
  };
  const remove: Step = {
    ...{ title: words.remove_app, submit: words.remove, isDangerous: true, lead: [h('p', {}, words.remove_app_hint)] },
    async act() {
      await client.removeTotp();
      return undefined;
    },
  };
  const renew: Step = {
    ...{ title: words.new_codes, submit: words.continue, lead: [h('p', { class: 'muted' }, words.new_codes_hint)] },
    act: async () => showCodes(context, (await client.renewRecoveryCodes()).recovery_codes),
  };
  const add: Step = {
    ...{ title: words.add_passkey, submit: words.continue, lead: [h('p', { class: 'muted' }, words.passkey_hint)] },
    fields: [{ name: 'name', kind: 'text', label: words.passkey_name, value: words.this_device_name }],
    async act({ name = '' }) {
      await client.addPasskey(name.trim(), { signal });
      return undefined;
    },
  };
  const app = words.authenticator_app;
  return lines(
    row(
      app,
      hasApp ? words.on : words.off,
      hasApp
        ? action('totp-remove', words.remove, app, () => change('totp', 'remove_totp', remove), true)
        : action('totp', words.set_up, app, () => change('totp-remove', 'enrol_totp', enrol)),
    ),
    account.second_factors.length > 0 &&
      row(
        words.recovery_codes,
        words.recovery_codes_hint,
        action('codes', words.new_codes, words.recovery_codes, () => change('codes', 'renew_recovery_codes', renew)),
      ),
    ...passkeys.map((passkey) => passkeyRow(context, passkey, date)),
    row(
      words.passkeys,
      passkeys.length === 0 ? words.no_passkeys : '',
      action('passkey', words.add, words.passkeys, () => change('passkey', 'add_passkey', add)),
    ),
  );
}

function passkeyRow(
  { words, client, change }: Context,
  { id, name, created_at, last_used_at }: Passkey,
  date: Intl.DateTimeFormat,
): HTMLElement {
  const rename: Step = {
    ...{ title: words.rename_passkey, submit: words.save },
    fields: [{ name: 'name', kind: 'text', label: words.passkey_name, value: name }],
    async act({ name: chosen = '' }) {
      await client.renamePasskey(id, chosen.trim());
      return undefined;
    },
  };
  const remove: Step = {
    ...{ title: words.remove_passkey, submit: words.remove, isDangerous: true },
    lead: [h('p', {}, fill(words.remove_passkey_hint, { name }))],
    async act() {
      await client.removePasskey(id);
      return undefined;
    },
  };
  const used =
    last_used_at === null ? words.never_used : fill(words.last_used, { time: date.format(new Date(last_used_at)) });
  return row(
    h('bdi', {}, name),
    `${words.passkey} · ${fill(words.since, { time: date.format(new Date(created_at)) })} · ${used}`,
    action(`passkey-${id}`, words.rename, name, () => change(`passkey-${id}`, 'rename_passkey', rename)),
    action(`passkey-${id}-remove`, words.remove, name, () => change('passkey', 'remove_passkey', remove), true),
  );
}

/** Accounts of OpenID providers. Null if there are none and the page cannot link any. */
export async function identitySection({
  words,
  client,
  offered,
  oidc,
  change,
  signal,
}: Context): Promise<HTMLElement | null> {
  const linked = await client.listIdentities({ signal });
  const providers = offered.logins.flatMap(({ authenticator }) =>
    authenticator.startsWith('oidc:') ? [authenticator.slice(5)] : [],
  );
  const open =
    oidc === undefined ? [] : providers.filter((provider) => !linked.some((one) => one.provider === provider));
  if (linked.length === 0 && open.length === 0) return null;
  const unlink = (identity: ExternalIdentity): Step => ({
    ...{ title: words.unlink, submit: words.unlink, isDangerous: true },
    lead: [h('p', {}, fill(words.unlink_hint, { provider: identity.provider }))],
    async act() {
      await client.unlinkIdentity(identity);
      return undefined;
    },
  });
  const link = (provider: string): Step => ({
    ...{
      title: words.link,
      submit: words.continue,
      lead: [h('p', { class: 'muted' }, fill(words.link_hint, { provider }))],
    },
    async act() {
      const pending = await client.linkIdentity(provider);
      const { issuer, client_ids, nonce } = pending;
      const idToken = await oidc?.({ provider, issuer, client_ids, nonce });
      if (idToken) await pending.confirm(idToken);
      return undefined;
    },
  });
  return lines(
    ...linked.map((identity) =>
      row(
        identity.provider,
        h('bdi', { dir: 'ltr' }, identity.subject),
        action(
          `link-${identity.provider}`,
          words.unlink,
          identity.provider,
          () => change(`link-${identity.provider}`, 'unlink_identity', unlink(identity)),
          true,
        ),
      ),
    ),
    ...open.map((provider) =>
      row(
        provider,
        words.not_linked,
        action(`link-${provider}`, words.link, provider, () =>
          change(`link-${provider}`, 'link_identity', link(provider)),
        ),
      ),
    ),
  );
}
