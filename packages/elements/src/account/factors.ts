import type { ExternalIdentity, Passkey } from '@postern/client';
import { type Child, element } from '../base/dom.js';
import { fill } from '../base/texts.js';
import { leaveTo, providerOf, titleOf } from './away.js';
import { passwordRow, pinRows } from './credentials.js';
import { loadSecrets } from './load-secrets.js';
import type { Step } from './questions.js';
import { action, type Context, lines, row } from './sections.js';

async function factorRows(context: Context): Promise<readonly Child[]> {
  const { words, account, client, change, language, signal } = context;
  const passkeys = await client.listPasskeys({ signal });
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
  const hasApp = account.second_factors.some(({ type }) => type === 'totp');

  const enrolStep: Step = {
    title: words.authenticator_app,
    submit: words.continue,
    introduction: [element('p', { class: 'muted', part: 'hint' }, words.app_hint)],
    async onSubmit() {
      const { confirmApp } = await loadSecrets();
      return confirmApp(context, await client.enrolTotp());
    },
  };
  const removeStep: Step = {
    title: words.remove_app,
    submit: words.remove,
    isDangerous: true,
    introduction: [element('p', { part: 'hint' }, words.remove_app_hint)],
    async onSubmit() {
      await client.removeTotp();
      return undefined;
    },
  };
  const renewStep: Step = {
    title: words.new_codes,
    submit: words.continue,
    introduction: [element('p', { class: 'muted', part: 'hint' }, words.new_codes_hint)],
    async onSubmit() {
      const { showAccountCodes } = await loadSecrets();
      return showAccountCodes(context, (await client.renewRecoveryCodes()).recovery_codes);
    },
  };
  const addStep: Step = {
    title: words.add_passkey,
    submit: words.continue,
    introduction: [element('p', { class: 'muted', part: 'hint' }, words.passkey_hint)],
    fields: [{ name: 'name', kind: 'text', label: words.passkey_name, value: words.this_device_name }],
    async onSubmit({ name = '' }) {
      await client.addPasskey(name.trim(), { signal });
      return undefined;
    },
  };
  const appName = words.authenticator_app;
  return [
    row(
      appName,
      hasApp ? words.on : words.off,
      hasApp
        ? action('totp-remove', words.remove, appName, () => change('totp', 'remove_totp', removeStep), true)
        : action('totp', words.set_up, appName, () => change('totp-remove', 'enrol_totp', enrolStep)),
    ),
    account.second_factors.length > 0 &&
      row(
        words.recovery_codes,
        words.recovery_codes_hint,
        action('codes', words.new_codes, words.recovery_codes, () =>
          change('codes', 'renew_recovery_codes', renewStep),
        ),
      ),
    row(
      words.passkeys,
      words.no_passkeys,
      action('passkey', words.add, words.passkeys, () => change('passkey', 'add_passkey', addStep)),
    ),
    ...passkeys.map((passkey) => passkeyRow(context, passkey, date)),
  ];
}

/** Everything that protects the account: the password, the PIN, second factors and passkeys. */
export async function securitySection(context: Context): Promise<HTMLElement> {
  return lines(passwordRow(context), ...pinRows(context), ...(await factorRows(context)));
}

function passkeyRow(
  { words, client, change }: Context,
  { id, name, created_at, last_used_at }: Passkey,
  date: Intl.DateTimeFormat,
): HTMLElement {
  const renameStep: Step = {
    title: words.rename_passkey,
    submit: words.save,
    fields: [{ name: 'name', kind: 'text', label: words.passkey_name, value: name }],
    async onSubmit({ name: chosen = '' }) {
      await client.renamePasskey(id, chosen.trim());
      return undefined;
    },
  };
  const removeStep: Step = {
    title: words.remove_passkey,
    submit: words.remove,
    isDangerous: true,
    introduction: [element('p', { part: 'hint' }, fill(words.remove_passkey_hint, { name }))],
    async onSubmit() {
      await client.removePasskey(id);
      return undefined;
    },
  };
  const lastUse =
    last_used_at === null ? words.never_used : fill(words.last_used, { time: date.format(new Date(last_used_at)) });
  return row(
    element('bdi', {}, name),
    `${words.passkey} · ${fill(words.since, { time: date.format(new Date(created_at)) })} · ${lastUse}`,
    action(`passkey-${id}`, words.rename, name, () => change(`passkey-${id}`, 'rename_passkey', renameStep)),
    action(`passkey-${id}-remove`, words.remove, name, () => change('passkey', 'remove_passkey', removeStep), true),
  );
}

/** A provider whose accounts this page can link. */
interface LinkableProvider {
  readonly name: string;
  /** For people. */
  readonly title: string;
  readonly takesRedirect: boolean;
}

/** The providers whose accounts this page can link. Without redirects, only the page itself can ask one for an id_token. */
function linkableProviders({ offered, oidc }: Pick<Context, 'offered' | 'oidc'>) {
  const providers = offered.logins.flatMap(({ authenticator, title, takes_redirect }): LinkableProvider[] => {
    const name = providerOf(authenticator);
    return name === undefined ? [] : [{ name, title: title ?? name, takesRedirect: takes_redirect === true }];
  });
  const isLinkable = ({ name, takesRedirect }: LinkableProvider) =>
    takesRedirect ||
    (oidc !== undefined && offered.logins.some(({ authenticator }) => authenticator === `oidc:${name}`));
  return providers.filter(isLinkable);
}

/** Accounts at providers. Null if there are none and the page cannot link any. */
export async function identitySection(context: Context): Promise<HTMLElement | null> {
  const { words, client, oidc, offered, change, signal } = context;
  const identities = await client.listIdentities({ signal });
  const unlinkedProviders = linkableProviders(context).filter(
    ({ name }) => !identities.some(({ provider }) => provider === name),
  );
  if (identities.length === 0 && unlinkedProviders.length === 0) return null;
  const unlinkStep = (identity: ExternalIdentity): Step => ({
    title: words.unlink,
    submit: words.unlink,
    isDangerous: true,
    introduction: [
      element('p', { part: 'hint' }, fill(words.unlink_hint, { provider: titleOf(offered.logins, identity.provider) })),
    ],
    async onSubmit() {
      await client.unlinkIdentity(identity);
      return undefined;
    },
  });
  const linkStep = ({ name, title, takesRedirect }: LinkableProvider): Step => ({
    title: words.link,
    submit: words.continue,
    cancelled: words.provider_cancelled,
    introduction: [element('p', { class: 'muted', part: 'hint' }, fill(words.link_hint, { provider: title }))],
    async onSubmit() {
      if (takesRedirect) {
        await client.linkProvider(name, { open: (url) => leaveTo(url, signal), signal });
        return undefined;
      }
      const pending = await client.linkIdentity(name);
      const { issuer, client_ids, nonce } = pending;
      const idToken = await oidc?.({ provider: name, issuer, client_ids, nonce });
      if (idToken) await pending.confirm(idToken);
      return undefined;
    },
  });
  return lines(
    ...identities.map((identity) => {
      const title = titleOf(offered.logins, identity.provider);
      const key = `link-${identity.provider}`;
      const unlink = () => change(key, 'unlink_identity', unlinkStep(identity));
      return row(
        title,
        element('bdi', { dir: 'ltr' }, identity.subject),
        action(key, words.unlink, title, unlink, true),
      );
    }),
    ...unlinkedProviders.map((provider) => {
      const { name, title } = provider;
      const link = () => change(`link-${name}`, 'link_identity', linkStep(provider));
      return row(title, words.not_linked, action(`link-${name}`, words.link, title, link));
    }),
  );
}
