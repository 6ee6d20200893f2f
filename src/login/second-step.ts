import type { NoticeChannel } from '../contract/administration.js';
import type { Challenge } from '../credentials/challenge.js';
import { codeDigest, usedCode } from '../credentials/codes.js';
import type { SecondFactors } from '../credentials/factors/second-factor.js';
import type { PendingPins } from '../credentials/pins/pending-pin.js';
import { isPinCorrect } from '../credentials/pins/pin-check.js';
import type { AccountUser } from '../identities/accounts.js';
import { sha256 } from '../lib/crypto/digests.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newToken } from '../lib/crypto/token-strings.js';
import { parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { throwIfErrors } from '../lib/problem.js';
import type { Guess, GuessBudget } from '../limits/guess-budget.js';
import type { LoginPolicies } from '../limits/login-policies.js';
import type { RequestLimits } from '../limits/request-limits.js';
import { createAccountLookup } from './account-lookup.js';
import type { ApprovedRecord } from './authentications.js';
import { type Authenticator, takesPin } from './authenticators/authenticator.js';
import { type LoginCompletion, type LoginCompletionOptions, type LoginResult, withChallenge } from './completion.js';
import { countApproval } from './login-counters.js';
import { rejection } from './login-request.js';
import {
  approveAuthentication,
  awaitSecondFactor,
  findAuthenticationOwner,
  type OpenAuthentication,
} from './open-authentications.js';
import { createSecretChecks, type Evaluated } from './second-step-secret.js';
import { decideStep, guessResults } from './step-result.js';

/** A further secret of a login, as the client sends it. */
export interface Answer {
  readonly secret: string;
  readonly pin: string | undefined;
  readonly idempotencyKey: string | undefined;
}

export interface SecondStepOptions extends LoginCompletionOptions {
  readonly keys: SecretKeys;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly secondFactors: SecondFactors;
  /** Recovered PINs that have not taken effect yet. The account look-up applies those that are due. */
  readonly nextPins: PendingPins;
  /** Called after a message is written and committed. */
  readonly onMessageWritten: () => void;
  /**
   * Links an account at a provider to the user who has just proven to own both.
   * @param link the account, encrypted
   * @throws Problem `external_identity_taken`
   */
  readonly linkAccount: (userId: string, login: { readonly id: string }, link: string, origin: Origin) => Promise<void>;
  /** How long logins last. */
  readonly policies: LoginPolicies;
  /** The channels of the notice about a login on a new device. */
  readonly noticeChannels: readonly NoticeChannel[];
}

/** The second step of a login, and the second factor if one is required: see `Login.answer`. */
export function createSecondStep(
  options: SecondStepOptions,
  registry: ReadonlyMap<string, Authenticator>,
  { refuseLocked, finish }: LoginCompletion,
): (id: string, answer: Answer, origin: Origin) => Promise<LoginResult> {
  const { database, keys, pins, pinPolicy, limits, secondFactors, counters } = options;
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
      await isPinCorrect(pins, pinPolicy, undefined, input.pin);
      throw countAndReject(givenId);
    }
    const approvalKey = input.idempotencyKey === undefined ? undefined : sha256(input.idempotencyKey);
    const identified = awaitsIdentification(owner) ? await identify(owner, input.secret, origin) : undefined;
    if (identified !== undefined && 'pending' in identified) return identified.pending;
    const userId = identified?.open.user_id ?? owner.userId;
    // Also takes one of the guesses that the account has left.
    const { user, guess } = await lookup.findToGuess({
      ...{ userId, deviceId: owner.deviceId, origin },
      authenticator: owner.authenticator,
    });

    let evaluated: Evaluated | undefined = identified;
    let second: Challenge | undefined;
    const guessResult = await guess.evaluate(async () => {
      evaluated ??= await evaluate(owner, user, input.secret, approvalKey, origin);
      const pinRight = !checksPin || (await isPinCorrect(pins, pinPolicy, user, input.pin));
      // The login is no longer open, so no secret was evaluated. Because this throws, no guess counts.
      if (evaluated === undefined) throw countAndReject(givenId);
      const { open, isLast } = evaluated;
      const areRight = evaluated.isRight && pinRight && !open.pin_refused;
      if (user !== undefined && areRight && !isLast) second = await secondFactors.createChallenge(user, open);
      // `neutral` for the results `locked` and `second_factor`, which are handled below.
      return guessResults[decideStep(user, { areRight, needsSecondFactor: second !== undefined })];
    });
    if (evaluated === undefined || user === undefined || guessResult === 'wrong') {
      if (evaluated !== undefined) await refuse(evaluated, user, input.secret, origin);
      throw rejection(givenId, evaluated?.isUsedCode === true ? usedCode('secret') : {});
    }
    await refuseLocked(user, { ...evaluated.open, userId, origin });
    if (second !== undefined) return requireSecondFactor(user, evaluated.open, second);
    const approved = await approve(user, evaluated, guess, { secret: input.secret, key: approvalKey, origin });
    const { record, result } = approved;
    await finish(user, { device: evaluated.open.device, record, origin, pin: checksPin ? input.pin : undefined });
    return result;
  }

  async function requireSecondFactor(
    { userId }: AccountUser,
    open: OpenAuthentication,
    second: Challenge,
  ): Promise<LoginResult> {
    const { link } = open.challenge;
    const state = link === undefined ? second.state : { ...second.state, link };
    const record = await awaitSecondFactor(database.user(userId), open, { ...second, state });
    if (record === undefined) throw countAndReject(open.id);
    return withChallenge(record, second);
  }

  async function approve(
    user: AccountUser,
    { open, secondFactor }: Evaluated,
    guess: Guess,
    { secret, key, origin }: { readonly secret: string; readonly key: Buffer | undefined; readonly origin: Origin },
  ): Promise<{ readonly record: ApprovedRecord; readonly result: LoginResult }> {
    const { token, digest } = newToken('authentication', [user.userId, open.id]);
    const { policies, noticeChannels } = options;
    const issued = { digest, policies, noticeChannels };
    const approval = { key, secret: Buffer.from(codeDigest(keys, open.id, secret), 'base64'), secondFactor };
    // The user has proven everything that this account asks for.
    if (open.challenge.link !== undefined) await options.linkAccount(user.userId, open, open.challenge.link, origin);
    const approved = await guess.approve((takenGuess) =>
      approveAuthentication(database.user(user.userId), open, { issued, approval, origin, guess: takenGuess }),
    );
    if (approved === undefined) throw countAndReject(open.id);
    if (open.status !== 'approved') countApproval(counters, open.authenticator, approved);
    return { record: approved, result: { ...approved, token, user_id: user.userId } };
  }

  return answer;
}
