import type { AccountUser } from '../accounts.js';
import type { Pins } from './pins.js';

export type PinPolicy = 'required' | 'optional' | 'off';

/**
 * Whether the PIN of a login is right. The time depends on whether a PIN was sent, never on the user: without one on
 * file a stand-in is verified, and only the PIN's form (the contract's schema) counted.
 */
export async function pinIsRight(
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
