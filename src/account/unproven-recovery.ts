import { recordEvent } from '../audit/events.js';
import type { ChallengeState } from '../credentials/challenge.js';
import { endChallenges } from '../credentials/challenges.js';
import type { Queryable } from '../database/database.js';
import { bound, compose, identifier, sql } from '../database/sql.js';
import type { AccountUser } from '../identities/accounts.js';
import type { Identity } from '../identities/identity.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import { clearGuesses } from '../limits/guess-budget.js';
import { changeEvents } from '../users/change-effects.js';
import {
  findUserForUpdate,
  hadAddressLogin,
  releaseIdentities,
  type UserValues,
  updateUser,
} from '../users/queries.js';
import type { AddressType } from './code-sender.js';

/*
 * A recovery through an address that nobody has proven. Somebody may have created the account with the address of another
 * person. So the code removes everything that came before it (pre-hijacking).
 */

/** The tables whose rows the recovery removes. `emptyInbox` removes those of the inbox. */
export const removedTables = [
  'external_identities',
  'totp',
  'recovery_codes',
  'passkeys',
  'sessions',
  'authentications',
  'devices',
  'page_apps',
  'support_logins',
  'notices',
  'guess_budgets',
] as const;

/** Whether the account has no proven address, so that the unproven one may recover it, unless it had a login by a code. */
export function isUnproven(user: AccountUser | undefined, { type, canonical }: Identity): boolean {
  if (user === undefined || user.email !== undefined || user.phone !== undefined) return false;
  return type !== 'username' && user.unproven[type] === canonical;
}

export interface UnprovenRecovery {
  readonly userId: string;
  readonly state: ChallengeState;
  /** The values of the first password. */
  readonly values: UserValues;
  readonly origin: Origin;
  readonly emptyInbox: (tx: Queryable, userId: string) => Promise<void>;
}

/**
 * Removes every credential, PIN, factor, linked account, login, name and inbox row, proves the address, and may set a first
 * password. The caller holds the lock of the user's row and has checked the code.
 * @throws Problem `code_rejected` if the account has got a proven address meanwhile
 */
export async function recoverUnproven(
  tx: Queryable,
  { userId, state, values, origin, emptyInbox }: UnprovenRecovery,
): Promise<void> {
  const before = await findUserForUpdate(tx, userId);
  const isProven = before === undefined || before.email_verified || before.phone_verified;
  if (isProven || (await hadAddressLogin(tx, userId))) throw new Problem('code_rejected');
  const proven: AddressType = state.type === 'email' ? 'email' : 'phone';
  const other: AddressType = proven === 'email' ? 'phone' : 'email';
  // A login that is being approved holds the row of its guesses, so its rows are there to be removed afterwards.
  await clearGuesses(tx, userId);
  await endChallenges(tx, userId);
  for (const table of removedTables) {
    await tx.query(compose(sql`delete from ${identifier(table)} where user_id = ${bound(userId)}`));
  }
  await emptyInbox(tx, userId);
  await releaseIdentities(tx, userId, ['username', other]);
  const changed: UserValues = {
    username: null,
    name: '',
    [other]: null,
    [`${other}_verified`]: true,
    [`${proven}_verified`]: true,
    password_hash: null,
    pin_hash: null,
    ...values,
  };
  await updateUser(tx, userId, { ...changed, ...cleared }, { endLogins: true });
  for (const event of changeEvents(before, changed)) await recordEvent(tx, { userId, origin, ...event });
  await recordEvent(tx, { userId, type: 'identity.verified', origin, data: { field: proven } });
}

/** A pending PIN, the guard of the PIN, and an active role, which a factor of before has activated. */
const cleared = {
  next_pin_hash: null,
  next_pin_since: null,
  next_pin_at: null,
  next_pin_cancel: null,
  pin_guarded_until: null,
  role_active_since: null,
  role_link_digest: null,
  role_link_expires_at: null,
};
