import type { Config } from '../../config/config.js';
import type { BreachedPasswords } from '../../credentials/breached-passwords.js';
import { createBreachedFile } from '../../delivery/breached/file.js';
import { createBreachedRange } from '../../delivery/breached/range.js';
import { createOutbound, type Outbound } from '../../delivery/outbound.js';

/**
 * The configured list of breached passwords; undefined if there is none. For the service and for the command line.
 * @param outbound the HTTP client. When absent, this creates one. Its idle connections do not keep the process running
 */
export function createBreachedPasswords(
  config: Config,
  onFailure: (error: unknown) => void,
  outbound?: Outbound,
): BreachedPasswords | undefined {
  const { BREACHED_PASSWORDS_FILE: path, BREACHED_PASSWORDS_URL: url } = config;
  if (path !== undefined) return createBreachedFile(path, onFailure);
  if (url === undefined) return undefined;
  const { ALLOW_PRIVATE_NETWORK_TARGETS: allowPrivateNetworkTargets } = config;
  return createBreachedRange({ url, outbound: outbound ?? createOutbound({ allowPrivateNetworkTargets }), onFailure });
}
