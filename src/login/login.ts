import type { TokenRequest } from '../contract/authentication.js';
import { isPinCorrect } from '../credentials/pins/pin-check.js';
import { identityDigest } from '../identities/identity.js';
import { newToken } from '../lib/crypto/token-strings.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import type { HumanCheck } from '../limits/human-check.js';
import { createAccountLookup, type LoginAttempt } from './account-lookup.js';
import {
  insertApprovedAuthentication,
  insertRejectedAuthentication,
  type NewAuthentication,
} from './authentications.js';
import type { Authenticator, SingleStep } from './authenticators/authenticator.js';
import { createLoginCompletion, type LoginResult } from './completion.js';
import { type Guests, guestAuthenticator } from './guests.js';
import { countApproval, countLimitRefusals } from './login-counters.js';
import { checkRequest, type RequestRules } from './login-request.js';
import type { LoginStep } from './login-steps.js';
import { createLoginOpening, type OpeningOptions, type StartedLogin } from './opening.js';
import { type Answer, createSecondStep, type SecondStepOptions } from './second-step.js';
import { decideStep, guessResults } from './step-result.js';
import { createStepStart } from './step-start.js';

/** Login: an identity and secrets give an authentication token. */
export interface Login {
  /**
   * Step 1. A wrong secret returns a rejected authentication, and so does an unknown identity.
   * @throws Problem `validation_failed`; `account_locked` or `account_temporarily_locked`: a lock by an operator only after the right
   * secret, a lock by guesses with any secret
   */
  start(request: TokenRequest, origin: Origin): Promise<LoginResult>;
  /**
   * Step 2, and the second factor if one is required.
   * @throws Problem `authorization_rejected`, the same for a wrong secret and for an authentication that is expired, used up
   * or unknown; locks as in step 1; `validation_failed` if a PIN is missing
   */
  answer(id: string, answer: Answer, origin: Origin): Promise<LoginResult>;
}

export interface LoginOptions extends SecondStepOptions, OpeningOptions, RequestRules {
  /** The check before a code is sent. Undefined: `HUMAN_CHECK` is off. */
  readonly humanCheck: HumanCheck | undefined;
  /** Undefined: `GUESTS` is off. */
  readonly guests: Guests | undefined;
  readonly authenticators: readonly Authenticator[];
}

/** Creates the login with the given authenticators. */
export function createLogin(options: LoginOptions): Login {
  const { database, pins, pinPolicy, limits, steps, counters } = options;
  const lookup = createAccountLookup(options);
  const completion = createLoginCompletion(options);
  const beginStep = createStepStart(options);
  const { begin, beginWithoutIdentity, open } = createLoginOpening(options, lookup);
  const registry = new Map(options.authenticators.map((authenticator) => [authenticator.name, authenticator]));

  async function start(request: TokenRequest, origin: Origin): Promise<LoginResult> {
    const { guests } = options;
    if (request.authenticator === guestAuthenticator && guests !== undefined) return guests.enter(request, origin);
    const checked = checkRequest(request, registry, options);
    const { device, keyThumbprint } = checked;
    const startedLogin = { id: newId(), authenticator: checked.authenticator.name, device, keyThumbprint, origin };
    if (checked.identity === undefined) return beginWithoutIdentity(checked.authenticator, startedLogin, request);
    const { authenticator, identity, signsUp } = checked;
    if (authenticator.name === 'sms' || authenticator.name === 'email') {
      await options.humanCheck?.pass({
        purpose: 'login',
        token: request.human_check,
        deviceId: device.id,
        sendsSms: authenticator.name === 'sms',
        identity: { ...identity, digest: identityDigest(identity) },
        clientAddress: origin.clientAddress,
      });
    }
    const userId = await lookup.identify(identity, origin.clientAddress);
    const attempt = { ...startedLogin, userId, deviceId: device.id };
    if (authenticator.steps === 1) {
      const decide = () => decideAtOnce(authenticator, attempt, request);
      return authenticator.hashesSecret === true
        ? limits.inLoginQueue({ userId, clientAddress: origin.clientAddress }, decide)
        : decide();
    }
    return begin(authenticator, attempt, { identity, pin: request.pin, signsUp, linkTo: request.link_to });
  }

  /** Always evaluates the secret and the PIN, so the response time does not reveal which one was wrong. */
  async function decideAtOnce(
    authenticator: SingleStep,
    attempt: StartedLogin & LoginAttempt,
    { secret = '', pin }: TokenRequest,
  ): Promise<LoginResult> {
    const { user, knownDevice, guess } = await lookup.findToGuess(attempt);
    // A login is valid while its epoch is that of its user.
    const login = { ...attempt, epoch: user?.epoch ?? 0, knownDevice };
    const { origin } = attempt;
    let next: LoginStep | undefined;
    let since = 0;
    // `evaluate` stores a wrong guess. A right one is stored by `approve` below, in the statement that inserts the login.
    const guessResult = await guess.evaluate(async () => {
      // From here on, `afterFailure` makes all failures take the same time. The wait for the guess does not count.
      since = performance.now();
      const secretRight = await authenticator.verify(user, { secret, authenticationId: login.id, origin });
      const pinRight = await isPinCorrect(pins, pinPolicy, user, pin, origin);
      const areRight = secretRight && pinRight;
      if (user !== undefined && areRight) next = steps.next(user, login, 'first');
      return guessResults[decideStep(user, { areRight, hasNextStep: next !== undefined })];
    });
    // This comes after the failure is counted: if this work throws, the wrong guess must still count.
    if (guessResult === 'wrong') await authenticator.afterFailure?.(user, { since, secret, origin });
    if (user === undefined || guessResult === 'wrong') return reject(login);
    await completion.refuseLocked(user, login);
    if (next !== undefined) {
      const { challenge, message } = await beginStep(next, user, login);
      return open(login, challenge, { factor: 2, pinRefused: false, message });
    }
    const { token, digest } = newToken('authentication', [user.userId, login.id]);
    const { policies, noticeChannels } = options;
    const issued = { digest, policies, noticeChannels };
    const approved = await guess.approve((takenGuess) =>
      insertApprovedAuthentication(database.user(user.userId), login, issued, takenGuess),
    );
    // The user was changed between look-up and approval, so the secret no longer counts.
    if (approved === undefined) return reject(login);
    countApproval(counters, login.authenticator, approved);
    await completion.finish(user, {
      device: login.device,
      record: approved,
      origin,
      pin,
      rehash: () => authenticator.afterApproval?.(user, { secret, origin }),
    });
    return { ...approved, token, user_id: user.userId };
  }

  async function reject(login: NewAuthentication): Promise<LoginResult> {
    const rejected = await insertRejectedAuthentication(database.user(login.userId), login, 'invalid_credentials');
    counters.add('logins.failed', 'wrong_secret', 1, login.authenticator);
    return rejected;
  }

  return {
    start: countLimitRefusals(counters, start),
    answer: countLimitRefusals(counters, createSecondStep(options, registry, { lookup, completion, beginStep })),
  };
}
