import { type EventType, recordEvent } from '../audit/events.js';
import type { ChallengeState } from '../credentials/challenge.js';
import {
  type ChallengePurpose,
  countChallengeGuess,
  findChallengeExpiry,
  findChallengeOwner,
} from '../credentials/challenges.js';
import { codeMatches } from '../credentials/codes.js';
import type { Database } from '../database/database.js';
import { canonicalIdentity, type Identity } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { choiceError, Problem } from '../lib/problem.js';
import { type GuessBudget, sessionlessBucket } from '../limits/guess-budget.js';
import type { HumanCheck } from '../limits/human-check.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { Users } from '../users/users.js';
import type { UserRules } from '../users/validation.js';
import { type AddressType, addressTypes, type CodeSender } from './code-sender.js';

/** An address in a request without a session. */
export interface AddressInput {
  readonly type: AddressType;
  readonly value: string;
}

/** Codes that are entered without a session, by the id of their challenge: for recoveries and registrations. */
export interface SessionlessCodes {
  /** @throws Problem `validation_failed` for an invalid address, or a type of address without a provider */
  readAddress(input: AddressInput): Identity & { readonly type: AddressType };
  /**
   * Verifies a code. These codes have a guess budget of their own, so that they work while the account is locked by
   * guesses.
   * @throws Problem `code_rejected` for a wrong, expired, used or unknown code; `account_temporarily_locked`,
   *   `too_many_requests`
   */
  check(answer: SessionlessAnswer): Promise<VerifiedCode>;
}

export interface SessionlessAnswer {
  readonly purpose: ChallengePurpose;
  readonly id: string;
  readonly secret: string;
  readonly origin: Origin;
  /** The audit event of a wrong code. */
  readonly rejectedEvent: EventType;
}

/** A correct code. Its challenge is not ended yet. */
export interface VerifiedCode {
  readonly userId: string;
  readonly id: string;
  readonly state: ChallengeState;
  /** When the code expires. */
  readonly expiresAt: string;
}

/** The dependencies of recoveries and registrations. */
export interface SessionlessDependencies {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly users: Users;
  readonly limits: RequestLimits;
  readonly codes: CodeSender;
  readonly sessionless: SessionlessCodes;
  readonly rules: UserRules;
  /** Undefined: there is none. */
  readonly humanCheck: HumanCheck | undefined;
}

/** Creates the checks of codes that are entered without a session. */
export function createSessionlessCodes(options: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly codes: CodeSender;
  readonly defaultRegion: string | undefined;
}): SessionlessCodes {
  const { database, keys, guesses, limits, codes, defaultRegion } = options;

  async function check({
    purpose,
    id: givenId,
    secret,
    origin,
    rejectedEvent: rejected,
  }: SessionlessAnswer): Promise<VerifiedCode> {
    await limits.countLoginByAddress(origin.clientAddress);
    const id = parseId(givenId);
    const owner = id === undefined ? undefined : await findChallengeOwner(database, id);
    // The client may see this: ids are random, so only the client that started the challenge knows the id.
    if (id === undefined || owner === undefined) throw new Problem('code_rejected');
    const { userId, deviceId } = owner;
    await limits.countLoginByAccount(userId, deviceId);
    const bucket = sessionlessBucket(deviceId);
    const guessed = { userId, deviceId: deviceId ?? bucket, knownDevice: deviceId, bucket, origin };
    let state: ChallengeState | undefined;
    const result = await guesses.guess(guessed, async () => {
      state = await countChallengeGuess(database.user(userId), { userId, id, purpose, deviceId });
      // There is no code to guess, so this is not counted as a wrong guess.
      if (state === undefined) throw new Problem('code_rejected');
      return codeMatches(keys, id, secret, state.code ?? '') ? 'right' : 'wrong';
    });
    if (state === undefined || result !== 'right') {
      await recordEvent(database.user(userId), { userId, type: rejected, origin });
      throw new Problem('code_rejected');
    }
    const expiresAt = await findChallengeExpiry(database.user(userId), { userId, id });
    if (expiresAt === undefined) throw new Problem('code_rejected');
    return { userId, id, state, expiresAt };
  }

  return {
    readAddress({ type, value }) {
      const identity = canonicalIdentity(type, value, defaultRegion);
      if (!codes.supports(type)) {
        const supported = addressTypes.filter((one) => codes.supports(one));
        throw new Problem('validation_failed', { errors: [choiceError('identity.type', supported)] });
      }
      if (identity === undefined) {
        const error = { field: 'identity.value', code: 'invalid_identity', params: { type } } as const;
        throw new Problem('validation_failed', { errors: [error] });
      }
      return { type, canonical: identity.canonical };
    },
    check,
  };
}
