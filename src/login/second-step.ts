import { usedCode } from '../credentials/codes.js';
import type { PendingPins } from '../credentials/pins/pending-pin.js';
import { isPinCorrect } from '../credentials/pins/pin-check.js';
import type { AccountUser } from '../identities/accounts.js';
import { sha256 } from '../lib/crypto/digests.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { throwIfErrors } from '../lib/problem.js';
import type { GuessBudget } from '../limits/guess-budget.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { AccountLookup } from './account-lookup.js';
import { type Authenticator, takesPin } from './authenticators/authenticator.js';
import type { CodeMessages } from './code-messages.js';
import type { SignUpByCode } from './code-sign-up.js';
import type { LoginCompletion, LoginCompletionOptions, LoginResult } from './completion.js';
import { rejection } from './login-request.js';
import type { LoginStep, LoginSteps } from './login-steps.js';
import { type AuthenticationOwner, findAuthenticationOwner } from './open-authentications.js';
import { createIdentification } from './second-step-identity.js';
import { createSecretChecks, type Evaluated } from './second-step-secret.js';
import { createSecondStepWrites, type SecondStepWritesOptions } from './second-step-writes.js';
import { decideStep, guessResults } from './step-result.js';
import type { BeginStep } from './step-start.js';

/** A further secret of a login, as the client sends it. */
export interface Answer {
  readonly secret: string;
  readonly pin: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** For a code that the next step sends. */
  readonly humanCheck?: string | undefined;
}

export interface SecondStepOptions extends LoginCompletionOptions, SecondStepWritesOptions {
  readonly keys: SecretKeys;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly steps: LoginSteps;
  readonly messages: CodeMessages;
  /** Recovered PINs that have not taken effect yet. The account look-up applies those that are due. */
  readonly nextPins: PendingPins;
  /** Makes the user of a login that may sign up. */
  readonly signUp: SignUpByCode;
}

/** An answer to a login that exists. */
interface CheckedAnswer extends Answer {
  /** The id as the client has sent it. */
  readonly givenId: string;
  /** Whether this answer takes a PIN. */
  readonly checksPin: boolean;
  /** The digest of the `Idempotency-Key`. */
  readonly approvalKey: Buffer | undefined;
  readonly origin: Origin;
}

/** The parts that both steps of a login use. */
interface SharedParts {
  readonly lookup: AccountLookup;
  readonly completion: LoginCompletion;
  readonly beginStep: BeginStep;
}

/** The second step of a login, and the second factor if one is required: see `Login.answer`. */
export function createSecondStep(
  options: SecondStepOptions,
  registry: ReadonlyMap<string, Authenticator>,
  { lookup, completion, beginStep }: SharedParts,
): (id: string, answer: Answer, origin: Origin) => Promise<LoginResult> {
  const { database, pins, pinPolicy, limits, steps } = options;
  const checks = createSecretChecks(options, registry);
  const { countAndReject, refuse, evaluate } = checks;
  const { awaitsIdentification, identify } = createIdentification(options, registry, checks);
  const { continueWith, approve } = createSecondStepWrites(options, checks);

  async function answer(givenId: string, input: Answer, origin: Origin): Promise<LoginResult> {
    const id = parseId(givenId);
    await limits.countLoginByAddress(origin.clientAddress);
    // Finds a login by its id alone, because the request does not contain the user. `factor` is 2 if the login waits for its second factor.
    const owner = id === undefined ? undefined : await findAuthenticationOwner(database, id);
    const checksPin = owner?.factor !== 2 && takesPin(registry.get(owner?.authenticator ?? ''));
    if (checksPin && pinPolicy === 'required' && input.pin === undefined) {
      throwIfErrors([{ field: 'pin', code: 'required', hint: 'pin_policy' }]);
    }
    if (owner === undefined) {
      // An unknown id must take about as long as a known one, so it also verifies a PIN. A small difference is harmless:
      // ids are random, and only the client that started the login knows the id.
      await checkPin(undefined, input.pin, origin);
      throw countAndReject(givenId);
    }
    const approvalKey = input.idempotencyKey === undefined ? undefined : sha256(input.idempotencyKey);
    const identified = awaitsIdentification(owner) ? await identify(owner, input, origin) : undefined;
    if (identified !== undefined && 'pending' in identified) return identified.pending;
    return decide(owner, identified, { ...input, givenId, checksPin, approvalKey, origin });
  }

  const checkPin = (user: AccountUser | undefined, pin: string | undefined, origin: Origin) =>
    isPinCorrect(pins, pinPolicy, user, pin, origin);

  /** @param identified the result, if the secret itself has named the user and was evaluated for it; then it is not evaluated again */
  async function decide(
    owner: AuthenticationOwner,
    identified: Evaluated | undefined,
    input: CheckedAnswer,
  ): Promise<LoginResult> {
    const { givenId, checksPin, approvalKey, origin } = input;
    const userId = identified?.open.user_id ?? owner.userId;
    // Also takes one of the guesses that the account has left.
    const { user, knownDevice, guess } = await lookup.findToGuess({
      userId,
      deviceId: owner.deviceId,
      origin,
      authenticator: owner.authenticator,
    });

    let evaluated: Evaluated | undefined = identified;
    let next: LoginStep | undefined;
    let signsUp = false;
    const guessResult = await guess.evaluate(async () => {
      evaluated ??= await evaluate(owner, user, input.secret, approvalKey, origin);
      const pinRight = !checksPin || (await checkPin(user, input.pin, origin));
      // The login is no longer open, so no secret was evaluated. An error in here counts no guess.
      if (evaluated === undefined) throw countAndReject(givenId);
      const { open, done } = evaluated;
      const areRight = evaluated.isRight && pinRight && !open.pin_refused;
      if (user !== undefined && areRight) next = steps.next(user, open, done);
      signsUp = areRight && evaluated.isNewcomer === true;
      if (signsUp) return 'neutral';
      // Neither wrong nor right yet (`neutral`): a locked account, and a login that needs a further step.
      return guessResults[decideStep(user, { areRight, hasNextStep: next !== undefined })];
    });
    // If no user has the address, the right code creates one. Then this function runs again for this user.
    if (evaluated !== undefined && signsUp) {
      const open = await options.signUp(evaluated.open, origin);
      if (open === undefined) throw countAndReject(givenId);
      return decide(owner, { ...evaluated, open, isNewcomer: false }, input);
    }
    if (evaluated === undefined || user === undefined || guessResult === 'wrong') {
      if (evaluated !== undefined) await refuse(evaluated, user, input.secret, origin);
      throw rejection(givenId, evaluated?.isUsedCode === true ? usedCode('secret') : {});
    }
    await completion.refuseLocked(user, { ...evaluated.open, userId, origin });
    if (next !== undefined) {
      const started = await beginStep(next, user, { ...evaluated.open, knownDevice, origin });
      return continueWith(user, evaluated, started);
    }
    const approved = await approve(user, evaluated, guess, { secret: input.secret, key: approvalKey, origin });
    const { record, result } = approved;
    await completion.finish(user, {
      device: evaluated.open.device,
      record,
      origin,
      pin: checksPin ? input.pin : undefined,
    });
    return result;
  }

  return answer;
}
