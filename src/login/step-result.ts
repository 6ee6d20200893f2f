import type { AccountUser } from '../identities/accounts.js';
import type { GuessResult } from '../limits/guess-budget.js';

/** The result of a login step whose secrets were evaluated. The login acts on it, and the diagnosis predicts it. */
export type StepResult = 'rejected' | 'locked' | 'next_step' | 'approved';

/**
 * Decides a step of a login. The lock of an operator comes after the secrets, because it reveals that the account exists.
 * @param user undefined for an unknown or deactivated user
 */
export function decideStep(
  user: AccountUser | undefined,
  secrets: { readonly areRight: boolean; readonly hasNextStep: boolean },
): StepResult {
  if (user === undefined || !secrets.areRight) return 'rejected';
  if (user.lock !== undefined) return 'locked';
  return secrets.hasNextStep ? 'next_step' : 'approved';
}

/** The result of the guess, for each result of a step. Only an approved login clears the guess budget. */
export const guessResults: Readonly<Record<StepResult, GuessResult>> = {
  rejected: 'wrong',
  locked: 'neutral',
  next_step: 'neutral',
  approved: 'right',
};
