import { codeMatches } from '../credentials/codes.js';
import type { SecondFactors } from '../credentials/factors/second-factor.js';
import type { Database } from '../database/database.js';
import { type AccountUser, getAccount } from '../identities/accounts.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { Origin } from '../lib/origin.js';
import type { Problem } from '../lib/problem.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { Counters } from '../statistics/counters.js';
import { type Authenticator, identifiesUser, type NextChallenge } from './authenticators/authenticator.js';
import { type LoginResult, withChallenge } from './completion.js';
import { rejection } from './login-request.js';
import { createMessageAdmission } from './messages.js';
import {
  type AuthenticationOwner,
  assignAuthentication,
  awaitNextAnswer,
  endUnlinked,
  type OpenAuthentication,
  rejectAuthentication,
  takeAuthenticationGuess,
} from './open-authentications.js';

/** The result of evaluating a secret. */
export interface Evaluated {
  readonly open: OpenAuthentication;
  readonly isRight: boolean;
  /** Whether no second factor can follow. False: one follows if the user needs one. */
  readonly isLast: boolean;
  /** When the evaluation began, by `performance.now()`. */
  readonly since: number;
  /** The type of the second factor, if this secret was one. */
  readonly secondFactor?: string | undefined;
  /** Whether this secret is a right code of an app that was used before. */
  readonly isUsedCode?: boolean;
}

interface SecretCheckOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly secondFactors: SecondFactors;
  readonly counters: Counters;
  readonly limits: RequestLimits;
  /** Called after a message is written and committed. */
  readonly onMessageWritten: () => void;
}

/** Creates the checks of a further secret of a login, and its refusals. */
export function createSecretChecks(
  { database, keys, limits, secondFactors, counters, onMessageWritten }: SecretCheckOptions,
  registry: ReadonlyMap<string, Authenticator>,
) {
  const admitMessage = createMessageAdmission({ keys, limits });

  /** The refusal of an answer to a login that is decided, expired or unknown. */
  function countAndReject(id: string): Problem {
    counters.add('logins.failed', 'not_open');
    return rejection(id);
  }

  /** Rejects an authentication after a wrong secret. */
  async function refuse(
    { open, since }: Pick<Evaluated, 'open' | 'since'>,
    user: AccountUser | undefined,
    secret: string,
    origin: Origin,
  ): Promise<void> {
    await rejectAuthentication(database.user(open.user_id), open, origin);
    counters.add('logins.failed', open.factor === 1 ? 'wrong_secret' : 'wrong_second_factor', 1, open.authenticator);
    if (open.factor === 1) await registry.get(open.authenticator)?.afterFailure?.(user, since, secret);
  }

  function awaitsIdentification({ authenticator: name, factor, status }: AuthenticationOwner): boolean {
    const authenticator = registry.get(name);
    return authenticator !== undefined && identifiesUser(authenticator) && factor === 1 && status !== 'approved';
  }

  /**
   * Takes one of the authentication's own guesses and evaluates the secret.
   * @returns undefined if the authentication is expired or decided, or has no guesses left. An approved authentication is
   *   evaluated again for a repeat with the Idempotency-Key of its approval
   */
  async function evaluate(
    owner: AuthenticationOwner,
    user: AccountUser | undefined,
    secret: string,
    approvalKey: Buffer | undefined,
    origin: Origin,
  ): Promise<Evaluated | undefined> {
    const open = await takeAuthenticationGuess(database.user(owner.userId), owner, approvalKey);
    if (open === undefined) return undefined;
    const since = performance.now();
    if (open.status === 'approved') {
      const isRight = codeMatches(keys, open.id, secret, open.approval_secret?.toString('base64') ?? '');
      return { open, isRight, isLast: true, since };
    }
    const challengeAnswer = { state: open.challenge, authenticationId: open.id, secret, origin };
    if (open.factor === 2) {
      const result = user === undefined ? undefined : await secondFactors.verify(user, challengeAnswer);
      const isUsedCode = result === 'used_code';
      const secondFactor = isUsedCode ? undefined : result;
      return { open, isRight: secondFactor !== undefined, isLast: true, since, secondFactor, isUsedCode };
    }
    const authenticator = registry.get(open.authenticator);
    // An authenticator that was removed from the configuration since step 1 approves nothing.
    const verifies = authenticator?.steps === 2 && !identifiesUser(authenticator);
    const isRight = verifies && (await authenticator.verify(challengeAnswer, user)) === true;
    return { open, isRight, isLast: false, since };
  }

  /**
   * Identifies the user of a login, and assigns the login to that user. An invalid answer counts only against this
   * authentication. Otherwise an attacker could use up a victim's guesses with false answers that name the victim.
   */
  async function identify(
    owner: AuthenticationOwner,
    secret: string,
    origin: Origin,
  ): Promise<Evaluated | { readonly pending: LoginResult }> {
    const open = await takeAuthenticationGuess(database.user(owner.userId), owner, undefined);
    const authenticator = registry.get(owner.authenticator);
    if (open === undefined || authenticator === undefined || !identifiesUser(authenticator))
      throw countAndReject(owner.id);
    const since = performance.now();
    const identified = await authenticator.identify({
      state: open.challenge,
      authenticationId: open.id,
      secret,
      origin,
    });
    if (identified === 'not_linked') {
      await endUnlinked(database.user(open.user_id), open, origin);
      counters.add('logins.failed', 'not_linked', 1, open.authenticator);
      throw rejection(owner.id, {}, 'not_linked');
    }
    if (identified !== undefined && 'next' in identified)
      return { pending: await continueWith(open, identified, origin) };
    const { user } =
      identified === undefined
        ? { user: undefined }
        : await getAccount(database.user(identified.userId), identified.userId);
    if (identified === undefined || user === undefined) {
      await refuse({ open, since }, undefined, secret, origin);
      throw rejection(owner.id);
    }
    const assigned = await assignAuthentication(database, open, user);
    if (assigned === undefined) throw countAndReject(owner.id);
    if ((await identified.consume?.()) === false) {
      await refuse({ open: assigned, since }, user, secret, origin);
      throw rejection(owner.id);
    }
    const secondFactor = identified.isMultiFactor ? authenticator.name : undefined;
    const challenge = identified.link === undefined ? {} : { link: identified.link };
    return { open: { ...assigned, challenge }, isRight: true, isLast: identified.isMultiFactor, since, secondFactor };
  }

  /** Stores the next challenge of a login whose user is not known yet, with its message. */
  async function continueWith(
    open: OpenAuthentication,
    { next, recipient, isSameStep }: NextChallenge,
    origin: Origin,
  ): Promise<LoginResult> {
    const message =
      next.message === undefined || recipient === undefined
        ? undefined
        : await admitMessage(
            next.message,
            { userId: recipient.userId, knownDevice: undefined, origin },
            recipient.identity,
          );
    const guesses = isSameStep ? open.guesses : 0;
    const record = await awaitNextAnswer(database.user(open.user_id), open, { ...next, guesses, message });
    if (record === undefined) throw countAndReject(open.id);
    if (message !== undefined) onMessageWritten();
    return withChallenge(record, next);
  }

  return { countAndReject, refuse, awaitsIdentification, evaluate, identify };
}
