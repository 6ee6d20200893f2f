import type { Config } from '../../config/config.js';
import type { ProviderSettings } from '../../config/identity-providers.js';
import type { MessageChannel } from '../../contract/administration.js';
import type { PasswordHasher } from '../../credentials/passwords.js';
import type { TestCodes } from '../../credentials/test-identities/test-codes.js';
import type { Database } from '../../database/database.js';
import { createAuthenticatorWebhook } from '../../delivery/authenticator-webhook.js';
import { createIdentityProvider, type ProviderOptions } from '../../delivery/oidc/provider.js';
import type { Outbound } from '../../delivery/outbound.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { GuessBudget } from '../../limits/guess-budget.js';
import type { HumanCheck } from '../../limits/human-check.js';
import type { Authenticator } from '../../login/authenticators/authenticator.js';
import { codeAuthenticators } from '../../login/authenticators/code.js';
import { customAuthenticator } from '../../login/authenticators/custom.js';
import { passwordAuthenticator } from '../../login/authenticators/password.js';
import { providerAuthenticator } from '../../login/authenticators/provider.js';
import { createLinkAuthenticators } from '../../login/link-authenticators.js';
import type { IdentityProvider } from '../../login/providers/provider.js';
import { createProviderHealth, type ProviderHealth } from '../../login/providers/provider-health.js';
import { createRedirects, type Redirects } from '../../login/providers/redirects.js';
import { createSignUp, type SignUp } from '../../login/providers/sign-up.js';
import type { Notices } from '../../messages/notices.js';
import type { Users } from '../../users/users.js';
import type { Base } from '../base/base.js';

/** Whether LOGIN_METHODS opens a way to log in. */
export const isOpenLogin = ({ LOGIN_METHODS: open }: Pick<Config, 'LOGIN_METHODS'>, name: string): boolean =>
  open === undefined || open.includes(name);

/** The configured authenticators that LOGIN_METHODS opens: the built-in ones, and webhooks, which are guarded. */
export function createAuthenticators(parts: {
  readonly config: Config;
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly testCodes: TestCodes;
  readonly hasher: PasswordHasher;
  readonly passkey: Authenticator;
  /** The channels for codes. */
  readonly channels: readonly MessageChannel[];
  readonly outbound: Outbound;
  readonly providers: readonly IdentityProvider[];
  readonly redirects: Redirects;
  readonly health: ProviderHealth;
  readonly users: Users;
  readonly guesses: GuessBudget;
  readonly notices: Notices;
  readonly humanCheck: HumanCheck | undefined;
}): { readonly authenticators: Authenticator[]; readonly signUp: SignUp } {
  const { config, database, hasher, channels, outbound, providers, redirects, health } = parts;
  const isOpen = ({ name }: Authenticator) => isOpenLogin(config, name);
  const password = passwordAuthenticator(database, hasher);
  const codes = codeAuthenticators(parts)
    .toReversed()
    .filter(({ name }) => channels.includes(name));
  const signUp = createSignUp({
    ...parts,
    sendsMail: channels.includes('email'),
    authenticators: createLinkAuthenticators([password, parts.passkey, ...codes].filter(isOpen), config.PIN_POLICY),
  });
  const configured: Authenticator[] = [
    password,
    ...codes,
    parts.passkey,
    ...providers.map((provider) => providerAuthenticator({ database, redirects, signUp, health }, provider)),
    ...customAuthenticators(config, outbound),
  ];
  return { authenticators: configured.filter(isOpen), signUp };
}

function customAuthenticators({ CUSTOM_AUTHENTICATORS: configured = [] }: Config, outbound: Outbound): Authenticator[] {
  return configured.map(({ name: ownName, url, secret, steps }) => {
    const name = `custom:${ownName}`;
    const endpoint = createAuthenticatorWebhook({ name, url, secret: secret.reveal(), outbound });
    return customAuthenticator({ name, steps, endpoint });
  });
}

/** The providers whose accounts can log in. */
export function createConfiguredProviders(config: Config, outbound: Outbound): IdentityProvider[] {
  const { OIDC_PROVIDERS: providers = [] } = config;
  return providers.map((settings) => createIdentityProvider({ ...optionsOf(settings, config), outbound }));
}

/** The redirects of logins and links to the configured providers. */
export function createConfiguredRedirects(
  { config, database, keys, log }: Base,
  providers: readonly IdentityProvider[],
  health: ProviderHealth,
): Redirects {
  return createRedirects({
    database,
    keys,
    providers,
    health,
    redirectUris: config.REDIRECT_URIS ?? [],
    hasPages: config.PAGES === 'on',
    publicUrl: publicUrlOf(config),
    onFailure: (provider, error, id) =>
      log.warn({ err: error, provider, authentication_id: id }, 'a login at a provider failed'),
  });
}

/** What operators see of the logins at providers. */
export const createConfiguredHealth = ({ database, log }: Base): ProviderHealth =>
  createProviderHealth(database, (error) => log.warn({ err: error }, 'the state of a provider could not be stored'));

/** Whether a browser may return from a provider to some address: to an app, or to the pages of this service. */
export const hasRedirectUris = ({ REDIRECT_URIS: uris, PAGES: pages }: Pick<Config, 'REDIRECT_URIS' | 'PAGES'>) =>
  uris !== undefined || pages === 'on';

/** PUBLIC_URL without a slash at its end. */
export const publicUrlOf = ({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>) => PUBLIC_URL?.replace(/\/+$/, '');

function optionsOf(settings: ProviderSettings, config: Config): Omit<ProviderOptions, 'outbound'> {
  const { clientId, clientSecret, apple, preset, hasPresetIssuer, scopes, pkce, ...others } = settings;
  const publicUrl = publicUrlOf(config);
  // A provider that a test starts has the issuer of a private network.
  const isVendor = hasPresetIssuer || config.ALLOW_PRIVATE_NETWORK_TARGETS;
  const secret = apple ? { ...apple, privateKey: apple.privateKey.reveal() } : clientSecret?.reveal();
  const redirectUri = `${publicUrl}/callback/${settings.name}`;
  return {
    ...others,
    mailboxesOf: preset === 'github' || !isVendor ? undefined : preset,
    hasTenants: preset === 'microsoft',
    client:
      clientId === undefined || publicUrl === undefined
        ? undefined
        : { clientId, secret, scopes, pkce, redirectUri, postsAnswer: preset === 'apple' },
  };
}
