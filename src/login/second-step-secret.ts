import { codeMatches } from '../credentials/codes.js';
import type { Database } from '../database/database.js';
import type { AccountUser } from '../identities/accounts.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { Origin } from '../lib/origin.js';
import type { Problem } from '../lib/problem.js';
import type { Counters } from '../statistics/counters.js';
import { type Authenticator, identifiesUser } from './authenticators/authenticator.js';
import { newcomerOf } from './code-sign-up.js';
import { rejection } from './login-request.js';
import { awaitedStep, type LoginStep, type LoginSteps } from './login-steps.js';
import {
  type AuthenticationOwner,
  type OpenAuthentication,
  rejectAuthentication,
  takeAuthenticationGuess,
} from './open-authentications.js';
import type { StepCheck } from './step-check.js';

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
}

/** Creates the checks of a further secret of a login, and its refusals. */
export function createSecretChecks(
  { database, keys, steps, counters }: SecretCheckOptions,
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

  return { countAndReject, refuse, evaluate };
}

export type SecretChecks = ReturnType<typeof createSecretChecks>;
