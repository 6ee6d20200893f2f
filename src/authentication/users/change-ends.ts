import type { Queryable } from '../../database/database.js';
import type { Origin } from '../../lib/origin.js';
import { recordEvent } from '../events/events.js';
import { forgiveGuesses } from '../guess-budget.js';
import { endNextPin } from '../secrets/next-pin.js';
import { endChallenges } from '../self-service/challenges.js';
import type { UserRow, UserValues } from './queries.js';

const system: Origin = { actor: 'system' };

/**
 * Ends what a change of a user makes untrue: what was begun by proofs that would not do now, and a recovered PIN that
 * waits. The user's row must be held, and is written afterwards.
 * @returns whether the change ends every login
 */
export async function endWithChange(
  tx: Queryable,
  before: UserRow,
  values: UserValues,
  origin: Origin,
): Promise<boolean> {
  const { id: userId } = before;
  const has = (name: keyof UserValues) => values[name] !== undefined;
  const isNew = (name: 'email' | 'phone' | 'status' | 'role' | 'second_factor') =>
    has(name) && values[name] !== before[name];
  const isDeactivated = isNew('status') && values.status === 'deactivated';
  let endsLogins = has('password_hash') || isDeactivated;

  // Who changes any of these does not want it, or has taken it over; a code to an address counts while that is the user's.
  if (has('password_hash') || has('pin_hash') || isDeactivated || isNew('email') || isNew('phone')) {
    const ended = await endNextPin(tx, userId);
    if (ended === 'applied') {
      endsLogins = true;
      await finishPinRecovery(tx, userId);
    } else if (ended !== undefined) {
      const data = { reason: 'account_changed' };
      await recordEvent(tx, { userId, type: 'pin_recovery.cancelled', origin, data });
    }
  }
  // A role may ask for a second factor, as the user's own policy does.
  if (endsLogins || isNew('role') || isNew('second_factor')) await endChallenges(tx, userId);
  else if (has('pin_hash')) await endChallenges(tx, userId, ['recovery']);
  return endsLogins;
}

/** Finishes a recovery of the PIN whose new PIN is in place now: forgives guesses at the old one, and records it. */
export async function finishPinRecovery(tx: Queryable, userId: string): Promise<void> {
  await forgiveGuesses(tx, userId, 'pin');
  await recordEvent(tx, { userId, type: 'user.pin_changed', origin: system });
  await recordEvent(tx, { userId, type: 'recovery.completed', origin: system, data: { recovers: 'pin' } });
}
