import type { Authenticator } from './authentication/authenticators/authenticator.js';
import { emailAuthenticator } from './authentication/authenticators/email.js';
import { guarded } from './authentication/authenticators/guarded.js';
import { loadPlugins } from './authentication/authenticators/load.js';
import { passwordAuthenticator } from './authentication/authenticators/password.js';
import type { Plugin, PluginContext } from './authentication/authenticators/plugin.js';
import { smsAuthenticator } from './authentication/authenticators/sms.js';
import type { PasswordHasher } from './authentication/passwords.js';
import { type Config, ConfigError } from './config.js';
import type { MessageChannel } from './contract/administration.js';
import type { Database } from './database/database.js';
import { createOutbound, type Outbound } from './delivery/outbound.js';
import type { SecretKeys } from './lib/secret-keys.js';
import { createLog, type Logger } from './log.js';

/** Every way of logging in that is configured: the built-in ones and those of others, which are guarded. */
export function createAuthenticators(parts: {
  /** Those by which codes can be sent. */
  readonly channels: readonly MessageChannel[];
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly hasher: PasswordHasher;
  readonly passkey: Authenticator;
  readonly plugins: readonly Plugin[];
}): Authenticator[] {
  const { channels, database, keys, hasher, plugins } = parts;
  return [
    passwordAuthenticator(database, hasher),
    ...(channels.includes('sms') ? [smsAuthenticator(keys)] : []),
    ...(channels.includes('email') ? [emailAuthenticator(keys)] : []),
    parts.passkey,
    ...plugins.map((plugin) => guarded(plugin, { channels })),
  ];
}

/** Loads the modules of AUTHENTICATORS. @throws ConfigError naming every fault of every module */
export async function loadConfiguredPlugins(
  config: Pick<Config, 'AUTHENTICATORS' | 'pluginVariables'>,
  outbound: Outbound,
  log: Logger,
): Promise<readonly Plugin[]> {
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
  const { plugins, faults } = await loadPlugins({ modules: config.AUTHENTICATORS ?? [], contextOf });
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `AUTHENTICATORS names ${fault}`));
  return plugins;
}

/** The names of the plug-ins, loaded as a start would. @throws ConfigError */
export async function tryConfiguredPlugins(config: Config): Promise<string[]> {
  const outbound = createOutbound({ allowPrivateNetworkTargets: config.ALLOW_PRIVATE_NETWORK_TARGETS });
  try {
    const plugins = await loadConfiguredPlugins(config, outbound, createLog('silent'));
    return plugins.map(({ name }) => name);
  } finally {
    await outbound.close();
  }
}
