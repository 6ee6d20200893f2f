import { recordEvent } from '../../audit/events.js';
import { roles, secondFactorPolicies } from '../../contract/user-fields.js';
import type { Database } from '../../database/database.js';
import type { AccountUser, SecondFactorPolicy } from '../../identities/accounts.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { Origin } from '../../lib/origin.js';
import type { Challenge, ChallengeAnswer, ChallengeState } from '../challenge.js';
import { normalizeCode } from '../codes.js';
import { consumeAssertion, passkeyDescriptors } from './passkeys.js';
import { deleteRecoveryCode, hasRecoveryCodes } from './recovery-codes.js';
import {
  newPasskeyChallenge,
  parseAssertion,
  passkeyLifetime,
  type RelyingParty,
  type UserVerification,
} from './relying-party.js';
import { isTotpReadable, useTotpCode } from './totp.js';

/** The second factor of a login, after a correct first secret. */
export interface SecondFactors {
  /** The challenge for a user of whom a second factor `isRequired`. */
  createChallenge(user: AccountUser, login: FirstFactorLogin): Promise<Challenge>;
  /** Whether a login of this user must answer a second factor after a correct first secret. */
  isRequired(user: AccountUser): boolean;
  /** The policy that applies to this user. */
  policyOf(user: AccountUser): SecondFactorPolicy;
  /** Whether the secret of the user's app can be read. If not, its codes cannot be checked. */
  isAppReadable(user: AccountUser): Promise<boolean>;
  /**
   * Whether this account has a second factor: an app always counts. A passkey counts if the user has a role, or if the
   * policy requires a second factor.
   */
  hasSecondFactor(user: AccountUser): boolean;
  /**
   * Checks and consumes the answer.
   * @returns the factor that was used; undefined if the answer is wrong; `used_code` for a right code that was used before
   */
  verify(user: AccountUser, answer: ChallengeAnswer): Promise<SecondFactorName | 'used_code' | undefined>;
}

/** A login whose first secret was correct. */
export interface FirstFactorLogin {
  readonly id: string;
  /** The authenticator of the first secret. */
  readonly authenticator: string;
}

/** Seconds to answer with any factor: as long as a browser waits for a passkey. */
const lifetime = passkeyLifetime;

export type SecondFactorName = 'totp' | 'passkey' | 'recovery_code';

export interface SecondFactorsOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly relyingParty: RelyingParty;
  /**
   * The default policy. The policy of the role of an operator overrides it. A role that the app gives can make it stricter. The
   * user's own policy overrides all of them.
   */
  readonly policy: SecondFactorPolicy;
  readonly policyByRole: Readonly<Record<string, SecondFactorPolicy>>;
}

/** Creates the policy and the checks of second factors. */
export function createSecondFactors(options: SecondFactorsOptions): SecondFactors {
  const { database, keys, relyingParty } = options;

  const byRole = new Map(Object.entries(options.policyByRole));
  /** A role of the app with the name of a role of operators has nothing of it. */
  const byAppRole = new Map([...byRole].filter(([name]) => !roles.some((role) => role === name)));
  const policyOf = ({ secondFactorPolicy, role, appRoles }: AccountUser) => {
    if (secondFactorPolicy !== undefined) return secondFactorPolicy;
    const policies = [byRole.get(role) ?? options.policy, ...appRoles.flatMap((name) => byAppRole.get(name) ?? [])];
    return secondFactorPolicies.findLast((policy) => policies.includes(policy)) ?? options.policy;
  };
  // A role takes effect with any second factor, so a passkey counts for a user with a role.
  const hasSecondFactor = (user: AccountUser) =>
    user.hasTotp || (user.hasPasskey && (policyOf(user) === 'required' || user.role !== 'user'));

  const isRequired = (user: AccountUser) => policyOf(user) !== 'off' && hasSecondFactor(user);

  async function createChallenge(user: AccountUser, { authenticator }: FirstFactorLogin): Promise<Challenge> {
    const handle = database.user(user.userId);
    const recovery = (await hasRecoveryCodes(handle, user.userId)) ? ['recovery_code'] : [];
    if (!user.hasPasskey) return totpChallenge({}, { alternatives: recovery });
    // After a login by passkey, possession is proved already, so a passkey as the second factor must verify its user.
    const verification = authenticator === 'passkey' ? 'required' : relyingParty.userVerification;
    const challenge = newPasskeyChallenge();
    const state = { challenge, verification };
    const allowed = await passkeyDescriptors(handle, user.userId);
    const passkey = relyingParty.requestOptions(challenge, verification, allowed);
    if (user.hasTotp) return totpChallenge(state, { alternatives: ['passkey', ...recovery], passkey });
    return { state, lifetime, clientChallenge: { type: 'passkey', ...passkey, alternatives: recovery } };
  }

  const totpChallenge = (state: ChallengeState, clientChallenge: Readonly<Record<string, unknown>>): Challenge => ({
    state,
    lifetime,
    clientChallenge: { type: 'totp', ...clientChallenge },
  });

  /** Recognises the factor by its format: six digits are a code of the app, a JSON object is an assertion. */
  async function verify(
    user: AccountUser,
    answer: ChallengeAnswer,
  ): Promise<SecondFactorName | 'used_code' | undefined> {
    const { secret } = answer;
    if (/^\d{6}$/.test(normalizeCode(secret))) {
      const result = await useTotpCode(database, keys, user.userId, secret);
      return ({ right: 'totp', used: 'used_code', wrong: undefined } as const)[result];
    }
    if (secret.startsWith('{')) return (await verifyPasskey(user, answer)) ? 'passkey' : undefined;
    const remaining = await redeemRecoveryCode({ database, keys }, user.userId, secret, answer.origin);
    return remaining === undefined ? undefined : 'recovery_code';
  }

  async function verifyPasskey({ userId }: AccountUser, { state, secret, origin }: ChallengeAnswer): Promise<boolean> {
    const assertion = parseAssertion(secret);
    const { challenge, verification } = state;
    if (assertion === undefined || challenge === undefined) return false;
    const expected = { userId, challenge, verification: asVerification(verification), origin };
    return (await consumeAssertion(options, assertion, expected)) !== undefined;
  }

  return {
    createChallenge,
    isRequired,
    policyOf,
    isAppReadable: ({ userId }) => isTotpReadable(database.user(userId), keys, userId),
    hasSecondFactor,
    verify,
  };
}

const asVerification = (text: string | undefined): UserVerification =>
  text === 'preferred' ? 'preferred' : 'required';

/**
 * Uses a recovery code and records an event.
 * @returns how many codes are left; undefined if the user does not have this code
 */
export async function redeemRecoveryCode(
  { database, keys }: { readonly database: Database; readonly keys: SecretKeys },
  userId: string,
  code: string,
  origin: Origin,
): Promise<number | undefined> {
  return database.user(userId).transaction(async (tx) => {
    const left = await deleteRecoveryCode(tx, keys, userId, code);
    if (left !== undefined) await recordEvent(tx, { userId, type: 'recovery_code.used', origin, data: { left } });
    return left;
  });
}
