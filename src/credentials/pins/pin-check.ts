import type { AccountUser } from '../../identities/accounts.js';
import type { Pins } from './pins.js';

export type PinPolicy = 'required' | 'optional' | 'off';

/**
 * Whether the PIN of a login is correct. The time depends on whether a PIN was sent, never on the user. If the user has
 * no PIN, a dummy hash is verified and any well-formed PIN passes.
 */
export async function isPinCorrect(
  pins: Pins,
  policy: PinPolicy,
  user: AccountUser | undefined,
  pin: string | undefined,
): Promise<boolean> {
  if (policy === 'off') return true;
  if (pin === undefined) return user?.pinHash === undefined;
  const matches = await pins.verify(user?.pinHash, user?.userId, pin);
  return user?.pinHash === undefined || matches;
}
