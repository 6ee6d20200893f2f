import type { Config } from '../../config/config.js';
import type { BreachedPasswords } from '../../credentials/breached-passwords.js';
import type { PasswordRules } from '../../credentials/password-policy.js';
import { createBreachedFile } from '../../delivery/breached/file.js';
import { createBreachedRange } from '../../delivery/breached/range.js';
import { createOutbound, type Outbound } from '../../delivery/outbound.js';

/** The rules for new passwords, without the list of breached ones. For the service and for the command line. */
export function passwordRules(config: Config): Omit<PasswordRules, 'breached'> {
  const { PASSWORD_MIN: passwordMin, PASSWORD_WORDS: words, APP_NAME: name, PUBLIC_URL: publicUrl } = config;
  const host = publicUrl === undefined ? [] : new URL(publicUrl).hostname.split('.');
  return {
    passwordMin,
    passwordWords: ['Postern', name, host.join('.'), ...host, ...(words ?? [])],
    refuseUnchecked: config.BREACHED_PASSWORDS_FAILURE === 'refuse',
  };
}

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
