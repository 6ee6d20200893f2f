import type { Config } from '../../config/config.js';
import type { Queryable } from '../../database/database.js';
import { configuredPushChannels } from '../base/providers.js';
import { connectionsOfInstance } from '../base/resource-limits.js';
import { type Finding, ok, warn } from './checks.js';
import { describeSetting, findHarmfulSettings } from './server-settings.js';

/** Checks the settings of PostgreSQL with which Postern cannot keep its promises. */
export async function checkSettings(handle: Queryable, config: Config): Promise<Finding[]> {
  const sentences = await harmfulSettings(handle, config);
  return sentences.length === 0
    ? [ok('settings of PostgreSQL', 'none breaks a promise of Postern')]
    : sentences.map((sentence) => warn('settings of PostgreSQL', sentence));
}

/** One sentence for each setting of PostgreSQL that breaks a promise. */
async function harmfulSettings(handle: Queryable, config: Config): Promise<string[]> {
  const connections = connectionsOfInstance(config.WORKERS, configuredPushChannels(config).length);
  const settings = await findHarmfulSettings(handle, connections);
  return settings.map(describeSetting);
}

/** Logs them. A start continues, because an operator may want a server that loses data, for example for tests. */
export async function reportHarmfulSettings(
  handle: Queryable,
  config: Config,
  log: { warn(fields: object, message: string): void },
): Promise<void> {
  try {
    for (const sentence of await harmfulSettings(handle, config)) log.warn({}, `PostgreSQL: ${sentence}`);
  } catch (error) {
    log.warn({ err: error }, 'the settings of PostgreSQL could not be checked; see `postern doctor`');
  }
}
