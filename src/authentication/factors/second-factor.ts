import type { Database } from '../../database/database.js';
import type { Origin } from '../../lib/origin.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import type { AccountUser, Role, SecondFactorPolicy } from '../accounts.js';
import type { Challenge, ChallengeAnswer, ChallengeState } from '../authenticators/authenticator.js';
import { recordEvent } from '../events/events.js';
import { passkeyDescriptors, useAssertion } from './passkeys.js';
import { hasRecoveryCodes, useRecoveryCode } from './recovery-codes.js';
import {
  newPasskeyChallenge,
  parseAssertion,
  passkeyLifetime,
  type RelyingParty,
  type UserVerification,
} from './relying-party.js';
import { useTotpCode } from './totp.js';

/** What a login asks for after the right first secret. */
export interface SecondFactors {
  /** @returns the challenge that this user must answer beside; undefined: none. */
  ask(user: AccountUser, login: AskingLogin): Promise<Challenge | undefined>;
  /** Whether more than the first secret stands before this account: an app in any case, a passkey of who has a role, or where it is asked for. */
  standBeside(user: AccountUser): boolean;
  /** Uses the answer up. @returns what it was; undefined when it is wrong. */
  verify(user: AccountUser, answer: ChallengeAnswer): Promise<SecondFactorName | undefined>;
}

/** A login whose first secret was right. */
export interface AskingLogin {
  readonly id: string;
  /** What the first secret was. */
  readonly authenticator: string;
}

/** Seconds to answer, by whichever factor: as long as a browser waits for a passkey. */
const lifetime = passkeyLifetime;

export type SecondFactorName = 'totp' | 'passkey' | 'recovery_code';

export interface SecondFactorsOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly relyingParty: RelyingParty;
  /** When to ask; what is said of the user goes before what is said of the role, and that before the rest. */
  readonly policy: SecondFactorPolicy;
  readonly policyByRole: Readonly<Partial<Record<Role, SecondFactorPolicy>>>;
}

export function createSecondFactors(options: SecondFactorsOptions): SecondFactors {
  const { database, keys, relyingParty } = options;

  const policyOf = ({ secondFactorPolicy, role }: AccountUser) =>
    secondFactorPolicy ?? options.policyByRole[role] ?? options.policy;
  // For who has a role any factor counts: the role takes effect by it.
  const standBeside = (user: AccountUser) =>
    user.hasTotp || (user.hasPasskey && (policyOf(user) === 'required' || user.role !== 'user'));

  async function ask(user: AccountUser, { authenticator }: AskingLogin): Promise<Challenge | undefined> {
    if (policyOf(user) === 'off' || !standBeside(user)) return undefined;
    const lane = database.lane(user.userId);
    const recovery = (await hasRecoveryCodes(lane, user.userId)) ? ['recovery_code'] : [];
    if (!user.hasPasskey) return totpChallenge({}, { alternatives: recovery });
    // What a passkey has shown already, that its owner has it, a second one would show again.
    const verification = authenticator === 'passkey' ? 'required' : relyingParty.userVerification;
    const challenge = newPasskeyChallenge();
    const kept = { challenge, verification };
    const allowed = await passkeyDescriptors(lane, user.userId);
    const passkey = relyingParty.requestOptions(challenge, verification, allowed);
    if (user.hasTotp) return totpChallenge(kept, { alternatives: ['passkey', ...recovery], passkey });
    return { kept, lifetime, shown: { type: 'passkey', ...passkey, alternatives: recovery } };
  }

  const totpChallenge = (kept: ChallengeState, shown: Readonly<Record<string, unknown>>): Challenge => ({
    ...{ kept, lifetime },
    shown: { type: 'totp', ...shown },
  });

  /** The form tells what it is: six digits are a code of the app, an object is an assertion. */
  async function verify(user: AccountUser, answer: ChallengeAnswer): Promise<SecondFactorName | undefined> {
    const { secret } = answer;
    if (/^\d{6}$/.test(secret)) return (await useTotpCode(database, keys, user.userId, secret)) ? 'totp' : undefined;
    if (secret.startsWith('{')) return (await verifyPasskey(user, answer)) ? 'passkey' : undefined;
    const left = await spendRecoveryCode({ database, keys }, user.userId, secret, answer.origin);
    return left === undefined ? undefined : 'recovery_code';
  }

  async function verifyPasskey({ userId }: AccountUser, { kept, secret, origin }: ChallengeAnswer): Promise<boolean> {
    const assertion = parseAssertion(secret);
    const { challenge, verification } = kept;
    if (assertion === undefined || challenge === undefined) return false;
    const expected = { userId, challenge, verification: asVerification(verification), origin };
    return (await useAssertion(options, assertion, expected)) !== undefined;
  }

  return { ask, standBeside, verify };
}

const asVerification = (text: string | undefined): UserVerification =>
  text === 'preferred' ? 'preferred' : 'required';

/** Uses a recovery code up, and writes down that it was. @returns how many are left; undefined: there is no such code. */
export async function spendRecoveryCode(
  { database, keys }: { readonly database: Database; readonly keys: SecretKeys },
  userId: string,
  code: string,
  origin: Origin,
): Promise<number | undefined> {
  return database.lane(userId).transaction(async (tx) => {
    const left = await useRecoveryCode(tx, keys, userId, code);
    if (left !== undefined) await recordEvent(tx, { userId, type: 'recovery_code.used', origin, data: { left } });
    return left;
  });
}
