import { coreOf } from './core.js';
import type { Abortable } from './platform.js';
import type { Postern } from './types.js';
import type { LoginOptions as OfferedLogins } from './wire.js';

/**
 * What the service offers without a session: the ways to log in, the rules for PINs and passwords, registration.
 *
 * @example
 * ```ts
 * import { offeredLogins, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const { logins, registration } = await offeredLogins(postern);
 * const hasPasskeys = logins.some(({ authenticator }) => authenticator === 'passkey');
 * console.log(hasPasskeys, registration.is_on);
 * ```
 */
export function offeredLogins(postern: Postern, { signal }: Abortable = {}): Promise<OfferedLogins> {
  return coreOf(postern).send({ path: '/v1/login-options', signal });
}
