import type { Config } from '../config/config.js';
import type { Database } from '../database/database.js';
import type { FirstKey } from '../sessions/api-keys.js';
import { offerSetUpLink } from '../sessions/setup-links.js';
import { banner } from './banner.js';
import { consoleUrl, httpUrl } from './base/console-url.js';
import type { Logger } from './base/log.js';

export interface FirstScreenOptions {
  /** With the ports on which the service listens. */
  readonly config: Config;
  /** The URL on which the service listens. */
  readonly url: string;
  readonly database: Database;
  readonly log: Logger;
  readonly firstKey: FirstKey;
  /** Whether a person sees the output. */
  readonly isTerminal: boolean;
}

/**
 * The text that a start prints when it is ready. If there is no operator yet, this creates a link for the first one. The
 * service also runs without the link, for example if DATA_DIR cannot be written.
 */
export async function firstScreen(options: FirstScreenOptions): Promise<string> {
  const { config, url, database, log, firstKey, isTerminal } = options;
  const { CONSOLE_HOST, CONSOLE_PORT, DATA_DIR: dataDir } = config;
  const administrationUrl = CONSOLE_PORT === undefined ? url : httpUrl(CONSOLE_HOST, CONSOLE_PORT);
  const shared = { url, administrationUrl, firstKey, apiDocs: config.API_DOCS === 'on' };
  if (config.CONSOLE === 'off') return banner({ ...shared, consoleUrl: undefined, setUpLink: undefined });
  const linkOptions = { database, dataDir, isTerminal, consoleUrl: consoleUrl(config) };
  const setUpLink = await offerSetUpLink(linkOptions).catch((error: unknown) => {
    log.warn({ err: error }, 'no set-up link could be created; use `postern operators invite`');
    return undefined;
  });
  return banner({ ...shared, consoleUrl: linkOptions.consoleUrl, setUpLink });
}
