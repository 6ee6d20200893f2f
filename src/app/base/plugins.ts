import { type Config, ConfigError } from '../../config/config.js';
import { createOutbound, type Outbound } from '../../delivery/outbound.js';
import { type LoadedPlugins, loadPlugins } from '../../login/authenticators/load.js';
import type { PluginContext } from '../../login/authenticators/plugin.js';
import { createLog, type Logger } from './log.js';

/**
 * Starts the modules of AUTHENTICATORS. Call `close` when the service stops.
 * @throws ConfigError with the errors of all modules
 */
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
      const outboundRequest = {
        url,
        method,
        ...(headers && { headers: { ...headers } }),
        ...(body !== undefined && { body }),
      };
      const { status, headers: responseHeaders, body: responseBody } = await outbound.request(outboundRequest);
      return { status, headers: responseHeaders, body: responseBody.toString() };
    },
  });
  const { plugins, errors, close } = await loadPlugins({
    modules: config.AUTHENTICATORS ?? [],
    contextOf,
    onError: (module, message, failure) =>
      log.error({ authenticator: module, ...(failure && { err: failure }) }, message),
  });
  if (errors.length > 0) {
    await close();
    throw new ConfigError(errors.map((error) => `AUTHENTICATORS names ${error}`));
  }
  return { plugins, close };
}

/** Loads the plug-ins in the same way as a start, and returns their names. @throws ConfigError */
export async function loadPluginNames(config: Config): Promise<string[]> {
  const outbound = createOutbound({ allowPrivateNetworkTargets: config.ALLOW_PRIVATE_NETWORK_TARGETS });
  try {
    const { plugins, close } = await loadConfiguredPlugins(config, outbound, createLog('silent'));
    await close();
    return plugins.map(({ name }) => name);
  } finally {
    await outbound.close();
  }
}
