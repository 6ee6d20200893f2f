import type { BreachedPasswords } from './authentication/secrets/breached-passwords.js';
import type { Config } from './config.js';
import { createBreachedFile } from './delivery/breached/file.js';
import { createBreachedRange } from './delivery/breached/range.js';
import { createOutbound, type Outbound } from './delivery/outbound.js';

/**
 * The list of breached passwords that is configured; undefined without one. For the service and for the command line.
 * @param outbound one of its own if absent, whose idle connections do not keep a process from ending
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
