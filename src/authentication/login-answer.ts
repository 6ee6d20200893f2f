import type { NoticeChannel } from '../contract/administration.js';
import { parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { refuseFaults } from '../lib/problem.js';
import type { SecretKeys } from '../lib/secret-keys.js';
import { sha256 } from '../lib/sha256.js';
import { newToken } from '../lib/token-strings.js';
import { type AccountUser, getAccount } from './accounts.js';
import { type Authenticator, type Challenge, namesUser } from './authenticators/authenticator.js';
import type { SecondFactors } from './factors/second-factor.js';
import type { Guess, GuessBudget } from './guess-budget.js';
import { type LoginEnd, type LoginEndOptions, type LoginResult, withChallenge } from './login-end.js';
import { createLoginEntry } from './login-entry.js';
import { rejection } from './login-request.js';
import {
  type AuthenticationOwner,
  adoptAuthentication,
  approveAuthentication,
  awaitSecondFactor,
  findAuthenticationOwner,
  type OpenAuthentication,
  rejectAuthentication,
  takeAuthenticationGuess,
} from './open-authentications.js';
import type { RequestLimits } from './request-limits.js';
import { codeDigest, codeMatches } from './secrets/codes.js';
import type { NextPins } from './secrets/next-pin.js';
import { pinIsRight } from './secrets/pin-check.js';

/** A further secret as the client sends it. */
export interface Answer {
  readonly secret: string;
  readonly pin: string | undefined;
  readonly idempotencyKey: string | undefined;
}

export interface AnswerOptions extends LoginEndOptions {
  readonly keys: SecretKeys;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly secondFactors: SecondFactors;
  readonly nextPins: NextPins;
  /** Milliseconds an authentication token lives. */
  readonly tokenLifetime: number;
  /** How a user is told of a login on a new device. */
  readonly tells: readonly NoticeChannel[];
}

/** A secret that was evaluated. */
interface Evaluated {
  readonly open: OpenAuthentication;
  readonly isRight: boolean;
  /** Whether no further secret may be asked for. */
  readonly isLast: boolean;
  /** When its evaluation began, by `performance.now()`. */
  readonly since: number;
  /** What the second factor was, where this was it. */
  readonly secondFactor?: string | undefined;
}

/** The second step of a login, and the second factor where one is asked for: see `Login.answer`. */
export function createAnswer(
  options: AnswerOptions,
  registry: ReadonlyMap<string, Authenticator>,
  { refuseLocked, claimTokens, enrolFirstPin }: LoginEnd,
): (id: string, answer: Answer, origin: Origin) => Promise<LoginResult> {
  const { database, keys, pins, pinPolicy, limits, secondFactors } = options;
  const entry = createLoginEntry(options);

  async function answer(givenId: string, given: Answer, origin: Origin): Promise<LoginResult> {
    const id = parseId(givenId);
    await limits.loginFrom(origin.address);
    const owner = id === undefined ? undefined : await findAuthenticationOwner(database, id);
    const judgesPin = takesPin(owner);
    if (judgesPin && pinPolicy === 'required' && given.pin === undefined) {
      refuseFaults([{ field: 'pin', code: 'required', hint: 'pin_policy' }]);
    }
    if (owner === undefined) {
      // The dear part is done all the same; the rest need not be hidden: ids are random, and who holds one knows of it.
      await pinIsRight(pins, pinPolicy, undefined, given.pin);
      throw rejection(givenId);
    }
    const approvalKey = given.idempotencyKey === undefined ? undefined : sha256(given.idempotencyKey);
    const named = isNameless(owner) ? await identify(owner, given.secret, origin) : undefined;
    const userId = named?.open.user_id ?? owner.userId;
    const { user, guess } = await entry.findToGuess({ userId, deviceId: owner.deviceId, origin });

    let evaluated: Evaluated | undefined = named;
    let second: Challenge | undefined;
    const verdict = await guess.evaluate(async () => {
      evaluated ??= await evaluate(owner, user, given.secret, approvalKey, origin);
      const pinRight = !judgesPin || (await pinIsRight(pins, pinPolicy, user, given.pin));
      // Nothing was there to be guessed: it does not count.
      if (evaluated === undefined) throw rejection(givenId);
      if (user === undefined || !evaluated.isRight || !pinRight || evaluated.open.pin_refused) return 'wrong';
      if (!evaluated.isLast) second = await secondFactors.ask(user, evaluated.open);
      return second === undefined && user.lock === undefined ? 'right' : 'halfway';
    });
    if (evaluated === undefined || user === undefined || verdict === 'wrong') {
      if (evaluated !== undefined) await refuse(evaluated, user, origin);
      throw rejection(givenId);
    }
    await refuseLocked(user, { ...evaluated.open, userId, origin });
    if (second !== undefined) return goOn(user, evaluated.open, second);
    const approved = await approve(user, evaluated, guess, { secret: given.secret, key: approvalKey, origin });
    if (judgesPin) await enrolFirstPin(user, given.pin);
    return approved;
  }

  async function refuse(
    { open, since }: Pick<Evaluated, 'open' | 'since'>,
    user: AccountUser | undefined,
    origin: Origin,
  ): Promise<void> {
    await rejectAuthentication(database.lane(open.user_id), open, origin);
    if (open.factor === 1) await registry.get(open.authenticator)?.refused?.(user, since);
  }

  async function goOn({ userId }: AccountUser, open: OpenAuthentication, second: Challenge): Promise<LoginResult> {
    const record = await awaitSecondFactor(database.lane(userId), open, second);
    if (record === undefined) throw rejection(open.id);
    return withChallenge(record, second);
  }

  async function approve(
    user: AccountUser,
    { open, secondFactor }: Evaluated,
    guess: Guess,
    { secret, key, origin }: { readonly secret: string; readonly key: Buffer | undefined; readonly origin: Origin },
  ): Promise<LoginResult> {
    const { token, digest } = newToken('authentication', [user.userId, open.id]);
    const issued = { digest, lifetime: options.tokenLifetime, tells: options.tells };
    const approval = { key, secret: Buffer.from(codeDigest(keys, open.id, secret), 'base64'), secondFactor };
    const approved = await guess.approve((settling) =>
      approveAuthentication(database.lane(user.userId), open, { issued, approval, origin, settling }),
    );
    if (approved === undefined) throw rejection(open.id);
    await claimTokens(user, open.device);
    return { ...approved, token };
  }

  /** The PIN goes with the first secret; who brings a passkey or an id_token needs none. */
  function takesPin(owner: AuthenticationOwner | undefined): boolean {
    const authenticator = registry.get(owner?.authenticator ?? '');
    return owner?.factor !== 2 && (authenticator === undefined || !namesUser(authenticator));
  }

  function isNameless({ authenticator: name, factor, status }: AuthenticationOwner): boolean {
    const authenticator = registry.get(name);
    return authenticator !== undefined && namesUser(authenticator) && factor === 1 && status !== 'approved';
  }

  /**
   * Takes one of the authentication's own guesses and evaluates the secret.
   * @returns undefined when there was nothing to be guessed: lapsed, used up, decided.
   */
  async function evaluate(
    owner: AuthenticationOwner,
    user: AccountUser | undefined,
    secret: string,
    approvalKey: Buffer | undefined,
    origin: Origin,
  ): Promise<Evaluated | undefined> {
    const open = await takeAuthenticationGuess(database.lane(owner.userId), owner, approvalKey);
    if (open === undefined) return undefined;
    const since = performance.now();
    if (open.status === 'approved') {
      const isRight = codeMatches(keys, open.id, secret, open.approval_secret?.toString('base64') ?? '');
      return { open, isRight, isLast: true, since };
    }
    const answered = { kept: open.challenge, authenticationId: open.id, secret, origin };
    if (open.factor === 2) {
      const secondFactor = user === undefined ? undefined : await secondFactors.verify(user, answered);
      return { open, isRight: secondFactor !== undefined, isLast: true, since, secondFactor };
    }
    const authenticator = registry.get(open.authenticator);
    // An authenticator that was configured away since step 1 approves nothing.
    const verifies = authenticator?.steps === 2 && !namesUser(authenticator);
    const isRight = verifies && (await authenticator.verify(answered, user)) === true;
    return { open, isRight, isLast: false, since };
  }

  /**
   * Finds out whose login it is, and makes it theirs. What proves nobody counts against this authentication only: a
   * stranger who names a victim in a false proof must not use up the victim's guesses.
   */
  async function identify(owner: AuthenticationOwner, secret: string, origin: Origin): Promise<Evaluated> {
    const open = await takeAuthenticationGuess(database, owner, undefined);
    const authenticator = registry.get(owner.authenticator);
    if (open === undefined || authenticator === undefined || !namesUser(authenticator)) throw rejection(owner.id);
    const since = performance.now();
    const named = await authenticator.identify({ kept: open.challenge, authenticationId: open.id, secret, origin });
    const { user } = named === undefined ? { user: undefined } : await getAccount(database, named.userId);
    if (named === undefined || user === undefined) {
      await refuse({ open, since }, undefined, origin);
      throw rejection(owner.id);
    }
    const adopted = await adoptAuthentication(database, open, user);
    if (adopted === undefined) throw rejection(owner.id);
    if ((await named.use?.()) === false) {
      await refuse({ open: adopted, since }, user, origin);
      throw rejection(owner.id);
    }
    const secondFactor = named.isMultiFactor ? authenticator.name : undefined;
    return { open: adopted, isRight: true, isLast: named.isMultiFactor, since, secondFactor };
  }

  return answer;
}
