import type { NoticeChannel } from '../contract/administration.js';
import type { Challenge } from '../credentials/challenge.js';
import { codeDigest, usedCode } from '../credentials/codes.js';
import type { PendingPins } from '../credentials/pins/pending-pin.js';
import { isPinCorrect } from '../credentials/pins/pin-check.js';
import type { Queryable } from '../database/database.js';
import type { AccountUser } from '../identities/accounts.js';
import { sha256 } from '../lib/crypto/digests.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newToken } from '../lib/crypto/token-strings.js';
import { newId, parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem, throwIfErrors } from '../lib/problem.js';
import type { Guess, GuessBudget } from '../limits/guess-budget.js';
import type { LoginPolicies } from '../limits/login-policies.js';
import type { RequestLimits } from '../limits/request-limits.js';
import { createAccountLookup } from './account-lookup.js';
import type { ApprovedRecord, NewAuthentication } from './authentications.js';
import { type Authenticator, takesPin } from './authenticators/authenticator.js';
import { addressTypeOf } from './authenticators/code.js';
import type { AdmittedMessage, CodeMessages } from './code-messages.js';
import type { SignUpByCode } from './code-sign-up.js';
import { type LoginCompletion, type LoginCompletionOptions, type LoginResult, withChallenge } from './completion.js';
import { countApproval } from './login-counters.js';
import { rejection } from './login-request.js';
import type { LoginStep, LoginSteps, ProvenLogin, StepEffect } from './login-steps.js';
import {
  type AuthenticationOwner,
  approveAuthentication,
  awaitNextStep,
  findAuthenticationOwner,
  type OpenAuthentication,
  rejectAuthentication,
} from './open-authentications.js';
import { createSecretChecks, type Evaluated } from './second-step-secret.js';
import { decideStep, guessResults } from './step-result.js';

/** A further secret of a login, as the client sends it. */
export interface Answer {
  readonly secret: string;
  readonly pin: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** For a code that the next step sends. */
  readonly humanCheck?: string | undefined;
}

export interface SecondStepOptions extends LoginCompletionOptions {
  readonly keys: SecretKeys;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly steps: LoginSteps;
  readonly messages: CodeMessages;
  /** Called after a message is written and committed. */
  readonly onMessageWritten: () => void;
  /** Recovered PINs that have not taken effect yet. The account look-up applies those that are due. */
  readonly nextPins: PendingPins;
  /**
   * Links an account at a provider to the user who has just proven to own both.
   * @param link the account, encrypted
   * @throws Problem `external_identity_taken`
   */
  readonly linkAccount: (userId: string, login: { readonly id: string }, link: string, origin: Origin) => Promise<void>;
  /** Makes the user of a login that may sign up. */
  readonly signUp: SignUpByCode;
  /** How long logins last. */
  readonly policies: LoginPolicies;
  /** The channels of the notice about a login on a new device. */
  readonly noticeChannels: readonly NoticeChannel[];
}

/** A step that begins: its challenge, and the message that it sends. */
export interface StartedStep {
  readonly challenge: Challenge;
  readonly message: AdmittedMessage | undefined;
}

/** Creates the start of a step after the first secret. A code is counted as every other code. */
export function createStepStart({ steps, messages }: Pick<SecondStepOptions, 'steps' | 'messages'>) {
  return async (
    step: LoginStep,
    user: AccountUser,
    login: ProvenLogin & Pick<NewAuthentication, 'knownDevice' | 'origin'>,
  ): Promise<StartedStep> => {
    const challenge = await steps.begin(step, user, login);
    const { channel = 'email', recipient = '' } = challenge.message ?? {};
    const { userId } = user;
    const address = { type: addressTypeOf(channel), canonical: recipient };
    return { challenge, message: await messages.admit(challenge.message, { ...login, userId }, address) };
  };
}

/** An answer to a login that exists. */
interface CheckedAnswer extends Answer {
  /** The id as the client has sent it. */
  readonly givenId: string;
  /** Whether this answer takes a PIN. */
  readonly checksPin: boolean;
  readonly approvalKey: Buffer | undefined;
  readonly origin: Origin;
}

/** The second step of a login, and the second factor if one is required: see `Login.answer`. */
export function createSecondStep(
  options: SecondStepOptions,
  registry: ReadonlyMap<string, Authenticator>,
  { refuseLocked, finish }: LoginCompletion,
): (id: string, answer: Answer, origin: Origin) => Promise<LoginResult> {
  const { database, keys, pins, pinPolicy, limits, steps, counters } = options;
  const beginStep = createStepStart(options);
  const lookup = createAccountLookup(options);
  const { countAndReject, refuse, awaitsIdentification, evaluate, identify } = createSecretChecks(options, registry);

  async function answer(givenId: string, input: Answer, origin: Origin): Promise<LoginResult> {
    const id = parseId(givenId);
    await limits.countLoginByAddress(origin.clientAddress);
    // The request contains only the id of the login, and not that of its user.
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

  /** @param identified a secret that was evaluated already; its login has a user */
  async function decide(
    owner: AuthenticationOwner,
    identified: Evaluated | undefined,
    input: CheckedAnswer,
  ): Promise<LoginResult> {
    const { givenId, checksPin, approvalKey, origin } = input;
    const userId = identified?.open.user_id ?? owner.userId;
    // Also takes one of the guesses that the account has left.
    const { user, knownDevice, guess } = await lookup.findToGuess({
      ...{ userId, deviceId: owner.deviceId, origin },
      authenticator: owner.authenticator,
    });

    let evaluated: Evaluated | undefined = identified;
    let next: LoginStep | undefined;
    let signsUp = false;
    const guessResult = await guess.evaluate(async () => {
      evaluated ??= await evaluate(owner, user, input.secret, approvalKey, origin);
      const pinRight = !checksPin || (await checkPin(user, input.pin, origin));
      // The login is no longer open, so no secret was evaluated. Because this throws, no guess counts.
      if (evaluated === undefined) throw countAndReject(givenId);
      const { open, done } = evaluated;
      const areRight = evaluated.isRight && pinRight && !open.pin_refused;
      if (user !== undefined && areRight) next = steps.next(user, open, done);
      signsUp = areRight && evaluated.isNewcomer === true;
      if (signsUp) return 'neutral';
      // `neutral` for the results `locked` and `next_step`, which are handled below.
      return guessResults[decideStep(user, { areRight, hasNextStep: next !== undefined })];
    });
    if (evaluated !== undefined && signsUp) {
      const open = await options.signUp(evaluated.open, origin);
      if (open === undefined) throw countAndReject(givenId);
      return decide(owner, { ...evaluated, open, isNewcomer: false }, input);
    }
    if (evaluated === undefined || user === undefined || guessResult === 'wrong') {
      if (evaluated !== undefined) await refuse(evaluated, user, input.secret, origin);
      throw rejection(givenId, evaluated?.isUsedCode === true ? usedCode('secret') : {});
    }
    await refuseLocked(user, { ...evaluated.open, userId, origin });
    if (next !== undefined) {
      const started = await beginStep(next, user, { ...evaluated.open, knownDevice, origin });
      return continueLogin(user, evaluated, started);
    }
    const approved = await approve(user, evaluated, guess, { secret: input.secret, key: approvalKey, origin });
    const { record, result } = approved;
    await finish(user, { device: evaluated.open.device, record, origin, pin: checksPin ? input.pin : undefined });
    return result;
  }

  /** Writes what an answer sets and what follows from it in one transaction: all or nothing. */
  async function withEffect<T>(
    { open, effect }: Evaluated,
    { userId }: AccountUser,
    write: (handle: Queryable, effect: StepEffect) => Promise<T | undefined>,
  ): Promise<{ readonly written: T; readonly recoveryCodes: StepEffect['recoveryCodes'] }> {
    const inTransaction = async (handle: Queryable) => {
      const done = effect === undefined ? {} : await effect(handle);
      const written = done && (await write(handle, done));
      if (done === undefined || written === undefined) throw countAndReject(open.id);
      return { written, recoveryCodes: done.recoveryCodes };
    };
    const handle = database.user(userId);
    return effect === undefined ? inTransaction(handle) : handle.transaction(inTransaction);
  }

  async function continueLogin(
    user: AccountUser,
    evaluated: Evaluated,
    { challenge, message }: StartedStep,
  ): Promise<LoginResult> {
    const link = evaluated.link ?? evaluated.open.challenge.link;
    const next = link === undefined ? challenge : { ...challenge, state: { ...challenge.state, link } };
    const { written } = await withEffect(evaluated, user, (handle, { hasNewEpoch = false }) =>
      awaitNextStep(handle, evaluated.open, { ...next, message, factor: 2, guesses: 0, hasNewEpoch }),
    );
    if (message !== undefined) options.onMessageWritten();
    return withChallenge(written, challenge, message);
  }

  /** Ends the login if the account at the provider was linked to another user since the login began. */
  async function linkOrReject({ userId }: AccountUser, open: OpenAuthentication, link: string, origin: Origin) {
    try {
      await options.linkAccount(userId, open, link, origin);
    } catch (error) {
      if (error instanceof Problem && error.code === 'external_identity_taken') {
        await rejectAuthentication(database.user(userId), open, origin, 'not_linked');
      }
      throw error;
    }
  }

  async function approve(
    user: AccountUser,
    evaluated: Evaluated,
    guess: Guess,
    { secret, key, origin }: { readonly secret: string; readonly key: Buffer | undefined; readonly origin: Origin },
  ): Promise<{ readonly record: ApprovedRecord; readonly result: LoginResult }> {
    const { open, secondFactor } = evaluated;
    const { token, digest } = newToken('authentication', [user.userId, open.id]);
    const { policies, noticeChannels } = options;
    const issued = { digest, policies, noticeChannels };
    // The user has proven everything that this account asks for.
    const link = evaluated.link ?? open.challenge.link;
    // No digest of a password, because it would be fast to guess at: see `LoginSteps.checkRepeat`.
    const repeated = open.challenge.awaits === 'new_password' ? newId() : secret;
    const approvalSecret = Buffer.from(codeDigest(keys, open.id, repeated), 'base64');
    const { written: approved, recoveryCodes } = await guess.approve(async (takenGuess) => {
      if (link !== undefined) await linkOrReject(user, open, link, origin);
      return withEffect(evaluated, user, (handle, { hasNewEpoch = false }) => {
        const approval = { key, secret: approvalSecret, secondFactor, hasNewEpoch };
        return approveAuthentication(handle, open, { issued, approval, origin, guess: takenGuess });
      });
    });
    if (open.status !== 'approved') countApproval(counters, open.authenticator, approved);
    const shown = recoveryCodes && { recovery_codes: recoveryCodes };
    return { record: approved, result: { ...approved, token, user_id: user.userId, ...shown } };
  }

  return answer;
}
