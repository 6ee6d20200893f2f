import type { Config } from '../../config/config.js';
import type { MessageChannel } from '../../contract/administration.js';
import type { PasswordHasher } from '../../credentials/passwords.js';
import type { TestCodes } from '../../credentials/test-identities/test-codes.js';
import type { Database } from '../../database/database.js';
import { createAuthenticatorWebhook } from '../../delivery/authenticator-webhook.js';
import { createIdTokens } from '../../delivery/oidc/id-tokens.js';
import type { Outbound } from '../../delivery/outbound.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { Authenticator } from '../../login/authenticators/authenticator.js';
import { codeAuthenticators } from '../../login/authenticators/code.js';
import { customAuthenticator } from '../../login/authenticators/custom.js';
import { type IdTokens, oidcAuthenticator } from '../../login/authenticators/oidc.js';
import { passwordAuthenticator } from '../../login/authenticators/password.js';

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
  readonly idTokens: readonly IdTokens[];
}): Authenticator[] {
  const { config, database, hasher, channels, outbound, idTokens } = parts;
  const configured = [
    passwordAuthenticator(database, hasher),
    ...codeAuthenticators(parts)
      .toReversed()
      .filter(({ name }) => channels.includes(name)),
    parts.passkey,
    ...idTokens.map((tokens) => oidcAuthenticator(database, tokens)),
    ...customAuthenticators(config, outbound),
  ];
  return configured.filter(({ name }) => isOpenLogin(config, name));
}

function customAuthenticators({ CUSTOM_AUTHENTICATORS: configured = [] }: Config, outbound: Outbound): Authenticator[] {
  return configured.map(({ name: ownName, url, secret, steps }) => {
    const name = `custom:${ownName}`;
    const endpoint = createAuthenticatorWebhook({ name, url, secret: secret.reveal(), outbound });
    return customAuthenticator({ name, steps, endpoint });
  });
}

/** The verifiers of the id_tokens of each OpenID provider. */
export function createConfiguredIdTokens({ OIDC_PROVIDERS: providers = [] }: Config, outbound: Outbound): IdTokens[] {
  return providers.map((provider) => createIdTokens({ ...provider, outbound }));
}
