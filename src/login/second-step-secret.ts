import { codeMatches } from '../credentials/codes.js';
import type { Database } from '../database/database.js';
import { type AccountUser, getAccount } from '../identities/accounts.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { Origin } from '../lib/origin.js';
import type { Problem } from '../lib/problem.js';
import type { Counters } from '../statistics/counters.js';
import { type Authenticator, identifiesUser, type NextChallenge } from './authenticators/authenticator.js';
import type { CodeMessages } from './code-messages.js';
import { newcomerOf } from './code-sign-up.js';
import { type LoginResult, withChallenge } from './completion.js';
import { rejection } from './login-request.js';
import { awaitedStep, type LoginStep, type LoginSteps, type StepCheck } from './login-steps.js';
import {
  type AuthenticationOwner,
  assignAuthentication,
  awaitNextStep,
  type OpenAuthentication,
  rejectAuthentication,
  takeAuthenticationGuess,
} from './open-authentications.js';

/** The result of evaluating a secret. */
export interface Evaluated {
  readonly open: OpenAuthentication;
  readonly isRight: boolean;
  /** The step that this secret has answered; `first` for the first secret. */
  readonly done: LoginStep | 'first';
  /** When the evaluation began, by `performance.now()`. */
  readonly since: number;
  /** The type of the second factor, if this secret was one. */
  readonly secondFactor?: string | undefined;
  /** An account at a provider, encrypted, that the approval links to the user. */
  readonly link?: string | undefined;
  /** Whether this secret is a right code of an app that was used before. */
  readonly isUsedCode?: boolean;
  readonly effect?: StepCheck['effect'];
  /** Whether nobody has the address that the code was sent to, and a right code makes an account with it. */
  readonly isNewcomer?: boolean;
}

interface SecretCheckOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly steps: LoginSteps;
  readonly counters: Counters;
  readonly messages: CodeMessages;
  /** Called after a message is written and committed. */
  readonly onMessageWritten: () => void;
}

/** Creates the checks of a further secret of a login, and its refusals. */
export function createSecretChecks(
  { database, keys, steps, messages, counters, onMessageWritten }: SecretCheckOptions,
  registry: ReadonlyMap<string, Authenticator>,
) {
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
    if (open.factor === 1) await registry.get(open.authenticator)?.afterFailure?.(user, { since, secret, origin });
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
    const step = open.factor === 2 ? awaitedStep(open.challenge) : undefined;
    if (open.status === 'approved') {
      const digest = open.approval_secret?.toString('base64') ?? '';
      const isRight = await (steps.checkRepeat(step, user, { secret, origin }) ??
        codeMatches(keys, open.id, secret, digest));
      return { open, isRight, done: 'enrolment', since, effect: steps.repeatEffect(step, open.user_id) };
    }
    const challengeAnswer = { state: open.challenge, authenticationId: open.id, secret, origin };
    if (step !== undefined) {
      const check = user === undefined ? { isRight: false } : await steps.check(step, user, challengeAnswer);
      return { open, done: step, since, ...check };
    }
    const authenticator = registry.get(open.authenticator);
    // An authenticator that was removed from the configuration since step 1 approves nothing.
    const verifies = authenticator?.steps === 2 && !identifiesUser(authenticator);
    const newcomer = user === undefined ? newcomerOf(open) : undefined;
    const isRight = verifies && (await authenticator.verify(challengeAnswer, user ?? newcomer)) === true;
    return { open, isRight, done: 'first', since, isNewcomer: newcomer !== undefined };
  }

  /**
   * Identifies the user of a login, and assigns the login to that user. An invalid answer counts only against this
   * authentication. Otherwise an attacker could use up a victim's guesses with false answers that name the victim.
   */
  async function identify(
    owner: AuthenticationOwner,
    { secret, humanCheck }: { readonly secret: string; readonly humanCheck?: string | undefined },
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
      deviceId: owner.deviceId,
      ...{ secret, origin, humanCheck },
    });
    if (identified === 'not_linked') {
      await rejectAuthentication(database.user(open.user_id), open, origin, 'not_linked');
      counters.add('logins.failed', 'not_linked', 1, open.authenticator);
      throw rejection(owner.id, { errors: [{ field: 'secret', code: 'not_linked' }] }, 'not_linked');
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
    const done = identified.isMultiFactor ? 'second_factor' : 'first';
    return { open: assigned, isRight: true, done, since, secondFactor, link: identified.link };
  }

  /** Stores the next challenge of a login whose user is not known yet, with its message. */
  async function continueWith(
    open: OpenAuthentication,
    { next, recipient, isSameStep }: NextChallenge,
    origin: Origin,
  ): Promise<LoginResult> {
    const message =
      recipient &&
      (await messages.admit(
        next.message,
        { userId: recipient.userId, knownDevice: undefined, origin },
        recipient.identity,
      ));
    const guesses = isSameStep ? open.guesses : 0;
    const waiting = { ...next, guesses, message, factor: 1, hasNewEpoch: false } as const;
    const record = await awaitNextStep(database.user(open.user_id), open, waiting);
    if (record === undefined) throw countAndReject(open.id);
    if (message !== undefined) onMessageWritten();
    return withChallenge(record, next, message);
  }

  return { countAndReject, refuse, awaitsIdentification, evaluate, identify };
}
