import type { Authenticator } from './authentication/authenticators/authenticator.js';
import { emailAuthenticator } from './authentication/authenticators/email.js';
import { guarded } from './authentication/authenticators/guarded.js';
import { type LoadedPlugins, loadPlugins } from './authentication/authenticators/load.js';
import { type IdTokens, oidcAuthenticator } from './authentication/authenticators/oidc.js';
import { passwordAuthenticator } from './authentication/authenticators/password.js';
import type { Plugin, PluginContext } from './authentication/authenticators/plugin.js';
import { smsAuthenticator } from './authentication/authenticators/sms.js';
import type { PasswordHasher } from './authentication/secrets/passwords.js';
import { type Config, ConfigError } from './config.js';
import type { MessageChannel } from './contract/administration.js';
import type { Database } from './database/database.js';
import { createWebhookAuthenticator } from './delivery/authenticator-webhook.js';
import { createIdTokens } from './delivery/oidc/id-tokens.js';
import { createOutbound, type Outbound } from './delivery/outbound.js';
import type { SecretKeys } from './lib/secret-keys.js';
import { createLog, type Logger } from './log.js';

/** Every way of logging in that is configured: the built-in ones and those of others, which are guarded. */
export function createAuthenticators(parts: {
  readonly config: Config;
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly hasher: PasswordHasher;
  readonly passkey: Authenticator;
  /** Those by which codes can be sent. */
  readonly channels: readonly MessageChannel[];
  readonly outbound: Outbound;
  readonly plugins: readonly Plugin[];
  readonly idTokens: readonly IdTokens[];
}): Authenticator[] {
  const { config, database, keys, hasher, channels, outbound, plugins, idTokens } = parts;
  return [
    passwordAuthenticator(database, hasher),
    ...(channels.includes('sms') ? [smsAuthenticator(keys)] : []),
    ...(channels.includes('email') ? [emailAuthenticator(keys)] : []),
    parts.passkey,
    ...idTokens.map((tokens) => oidcAuthenticator(database, tokens)),
    ...[...plugins, ...webhookPlugins(config, outbound)].map((plugin) => guarded(plugin, { channels })),
  ];
}

function webhookPlugins({ CUSTOM_AUTHENTICATORS: configured = [] }: Config, outbound: Outbound): Plugin[] {
  return configured.map(({ name, url, secret, steps }) =>
    createWebhookAuthenticator({ name: `custom:${name}`, url, secret: secret.reveal(), steps, outbound }),
  );
}

/** What reads the id_tokens of each OpenID provider. */
export function createConfiguredIdTokens({ OIDC_PROVIDERS: providers = [] }: Config, outbound: Outbound): IdTokens[] {
  return providers.map((provider) => createIdTokens({ ...provider, outbound }));
}

/** Starts the modules of AUTHENTICATORS. Close them when the service stops. @throws ConfigError naming every fault of every module */
export async function loadConfiguredPlugins(
  config: Pick<Config, 'AUTHENTICATORS' | 'pluginVariables'>,
  outbound: Outbound,
  log: Logger,
): Promise<Pick<LoadedPlugins, 'plugins' | 'close'>> {
  const contextOf = (module: string): PluginContext => ({
    env: config.pluginVariables,
    log: (level, message) => log[level]({ authenticator: module }, message),
    async fetch(url, request = {}) {
      const { method = 'GET', headers, body } = request;
      const sent = { url, method, ...(headers && { headers: { ...headers } }), ...(body !== undefined && { body }) };
      const { status, headers: received, body: answer } = await outbound.request(sent);
      return { status, headers: received, body: answer.toString() };
    },
  });
  const { plugins, faults, close } = await loadPlugins({
    modules: config.AUTHENTICATORS ?? [],
    contextOf,
    onFault: (module, what, failure) => log.error({ authenticator: module, ...(failure && { err: failure }) }, what),
  });
  if (faults.length > 0) {
    await close();
    throw new ConfigError(faults.map((fault) => `AUTHENTICATORS names ${fault}`));
  }
  return { plugins, close };
}

/** The names of the plug-ins, loaded as a start would. @throws ConfigError */
export async function tryConfiguredPlugins(config: Config): Promise<string[]> {
  const outbound = createOutbound({ allowPrivateNetworkTargets: config.ALLOW_PRIVATE_NETWORK_TARGETS });
  try {
    const { plugins, close } = await loadConfiguredPlugins(config, outbound, createLog('silent'));
    await close();
    return plugins.map(({ name }) => name);
  } finally {
    await outbound.close();
  }
}
