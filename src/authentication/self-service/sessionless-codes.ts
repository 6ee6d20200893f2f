import type { Database } from '../../database/database.js';
import { parseId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { choiceFault, Problem } from '../../lib/problem.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import type { ChallengeState } from '../authenticators/authenticator.js';
import { type EventType, recordEvent } from '../events/events.js';
import { type GuessBudget, sessionlessBucket } from '../guess-budget.js';
import { canonicalIdentity, type Identity } from '../identities/identity.js';
import type { RequestLimits } from '../request-limits.js';
import { codeMatches } from '../secrets/codes.js';
import type { Users } from '../users/users.js';
import type { UserRules } from '../users/validation.js';
import { type ChallengePurpose, findChallengeOwner, takeChallengeGuess } from './challenges.js';
import { type AddressType, addressTypes, type CodeSending } from './code-sending.js';

/** An address as a request without a session names it. */
export interface GivenAddress {
  readonly type: AddressType;
  readonly value: string;
}

/** What recoveries and registrations share: codes that come back without a session, by the id of their challenge alone. */
export interface SessionlessCodes {
  /** @throws Problem `validation_failed` for what is no address, or cannot be reached from here. */
  readAddress(given: GivenAddress): Identity & { readonly type: AddressType };
  /**
   * Evaluates a code within the budget that such codes have for themselves: a lock by other guesses does not keep them
   * out.
   * @throws Problem `code_rejected`, the same for wrong, lapsed, used-up and unknown; `account_temporarily_locked`,
   * `too_many_requests`
   */
  check(answer: SessionlessAnswer): Promise<CheckedCode>;
}

export interface SessionlessAnswer {
  readonly purpose: ChallengePurpose;
  readonly id: string;
  readonly secret: string;
  readonly origin: Origin;
  /** What a wrong code is called in the audit trail. */
  readonly rejected: EventType;
}

/** A code that was right. It is not ended yet. */
export interface CheckedCode {
  readonly userId: string;
  readonly id: string;
  readonly kept: ChallengeState;
}

/** What they are both made of. */
export interface SessionlessOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly users: Users;
  readonly limits: RequestLimits;
  readonly codes: CodeSending;
  readonly sessionless: SessionlessCodes;
  readonly rules: UserRules;
}

export function createSessionlessCodes(options: {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly codes: CodeSending;
  readonly defaultRegion: string | undefined;
}): SessionlessCodes {
  const { database, keys, guesses, limits, codes, defaultRegion } = options;

  async function check({ purpose, id: givenId, secret, origin, rejected }: SessionlessAnswer): Promise<CheckedCode> {
    await limits.loginFrom(origin.address);
    const id = parseId(givenId);
    const owner = id === undefined ? undefined : await findChallengeOwner(database, id);
    // It need not be hidden: ids are random, and who holds one knows of it.
    if (id === undefined || owner === undefined) throw new Problem('code_rejected');
    const { userId, deviceId } = owner;
    await limits.loginTo(userId, deviceId);
    const bucket = sessionlessBucket(deviceId);
    const guessed = { userId, deviceId: deviceId ?? bucket, knownDevice: deviceId, bucket, origin };
    let kept: ChallengeState | undefined;
    const verdict = await guesses.guess(guessed, async () => {
      kept = await takeChallengeGuess(database.lane(userId), { userId, id, purpose, deviceId });
      // Nothing was there to be guessed: it does not count.
      if (kept === undefined) throw new Problem('code_rejected');
      return codeMatches(keys, id, secret, kept.code ?? '') ? 'right' : 'wrong';
    });
    if (kept === undefined || verdict !== 'right') {
      await recordEvent(database, { userId, type: rejected, origin });
      throw new Problem('code_rejected');
    }
    return { userId, id, kept };
  }

  return {
    readAddress({ type, value }) {
      const identity = canonicalIdentity(type, value, defaultRegion);
      if (!codes.reaches(type)) {
        const reached = addressTypes.filter((one) => codes.reaches(one));
        throw new Problem('validation_failed', { errors: [choiceFault('identity.type', reached)] });
      }
      if (identity === undefined) {
        const fault = { field: 'identity.value', code: 'invalid_identity', params: { type } } as const;
        throw new Problem('validation_failed', { errors: [fault] });
      }
      return { type, canonical: identity.canonical };
    },
    check,
  };
}
