import type { Queryable } from '../database/database.js';
import { type AccountUser, getAccount } from '../identities/accounts.js';
import { findEpochForUpdate } from '../users/queries.js';

/** The result of a step's check. */
export interface StepCheck {
  readonly isRight: boolean;
  /** The type of the second factor, if this answer was one. */
  readonly secondFactor?: string | undefined;
  readonly isUsedCode?: boolean;
  /**
   * Writes what the answer sets, in the transaction that continues or approves the login.
   * @returns undefined if it can no longer be written: then the answer is refused
   */
  readonly effect?: (tx: Queryable) => Promise<StepEffect | undefined>;
}

export interface StepEffect {
  /** Whether it has ended every login of the user by a new epoch, except this one. */
  readonly hasNewEpoch?: boolean;
  /** Shown once, with the approval. */
  readonly recoveryCodes?: readonly string[];
}

/** Locks the row of the user, and checks that the answer was checked against its present state. */
export async function lockUnchanged(
  tx: Queryable,
  { userId, epoch }: AccountUser,
  isStillNeeded: (user: AccountUser) => boolean,
): Promise<boolean> {
  if ((await findEpochForUpdate(tx, userId)) !== epoch) return false;
  // A separate statement, so that it sees what was committed while the first one waited for the lock.
  const { user } = await getAccount(tx, userId);
  return user !== undefined && isStillNeeded(user);
}
