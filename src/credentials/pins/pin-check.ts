import type { AccountUser } from '../../identities/accounts.js';
import type { HashClient } from '../passwords.js';
import type { Pins } from './pins.js';

export type PinPolicy = 'required' | 'optional' | 'off';

/** Which PIN a login accepts: `ignored`: the PIN is not checked. `any`: every well-formed PIN. `own`: only the user's PIN. */
export type PinRule = 'ignored' | 'any' | 'own';

/** The rule for the PIN of a user. A user without a PIN never needs one to log in. */
export function pinRule(policy: PinPolicy, user: AccountUser | undefined): PinRule {
  if (policy === 'off') return 'ignored';
  return user?.pinHash === undefined ? 'any' : 'own';
}

/**
 * Whether the PIN of a login is correct. The time depends on whether a PIN was sent, never on the user. If the user has
 * no PIN, a dummy hash is verified and any well-formed PIN passes.
 */
export async function isPinCorrect(
  pins: Pins,
  policy: PinPolicy,
  user: AccountUser | undefined,
  pin: string | undefined,
  client: HashClient,
): Promise<boolean> {
  const rule = pinRule(policy, user);
  if (rule === 'ignored') return true;
  if (pin === undefined) return rule === 'any';
  const matches = await pins.verify(user?.pinHash, user?.userId, pin, client);
  return rule === 'any' || matches;
}
