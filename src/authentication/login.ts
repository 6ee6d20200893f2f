import type { TokenRequest } from '../contract/authentication.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { newToken } from '../lib/token-strings.js';
import {
  insertApprovedAuthentication,
  insertOpenAuthentication,
  insertRejectedAuthentication,
  type NewAuthentication,
  type OpenState,
} from './authentications.js';
import type {
  Authenticator,
  Challenge,
  CodeMessage,
  SelfNaming,
  SingleStep,
  TwoStep,
} from './authenticators/authenticator.js';
import type { Identity } from './identities/identity.js';
import { identityDigest } from './identities/identity-digest.js';
import { type Answer, type AnswerOptions, createAnswer } from './login-answer.js';
import { createLoginEnd, type LoginResult, withChallenge } from './login-end.js';
import { createLoginEntry, type Visit } from './login-entry.js';
import { checkRequest } from './login-request.js';
import { pinIsRight } from './secrets/pin-check.js';

/** Logging in: from an identity and a secret to an authentication token. */
export interface Login {
  /**
   * Step 1. A wrong secret is no error but a rejected authentication, the same for unknown identities.
   * @throws Problem `validation_failed`; to who gave the right secret, `account_locked` or `account_temporarily_locked`.
   */
  start(request: TokenRequest, origin: Origin): Promise<LoginResult>;
  /**
   * Step 2, and the second secret where one is asked for.
   * @throws Problem `authorization_rejected`, the same for wrong, lapsed, used-up and unknown; locks as in step 1;
   * `validation_failed` where a PIN is missing.
   */
  answer(id: string, answer: Answer, origin: Origin): Promise<LoginResult>;
}

export interface LoginOptions extends AnswerOptions {
  /** To be called when a message was written and committed. */
  readonly written: () => void;
  readonly authenticators: readonly Authenticator[];
  readonly defaultRegion: string | undefined;
}

/** A login, before it is known whose it is. */
type Begun = Pick<NewAuthentication, 'id' | 'authenticator' | 'device' | 'origin'>;

export function createLogin(options: LoginOptions): Login {
  const { database, keys, pins, pinPolicy, limits, secondFactors } = options;
  const entry = createLoginEntry(options);
  const end = createLoginEnd(options);
  const registry = new Map(options.authenticators.map((authenticator) => [authenticator.name, authenticator]));

  async function start(request: TokenRequest, origin: Origin): Promise<LoginResult> {
    const checked = checkRequest(request, registry, options.defaultRegion);
    const { authenticator, device } = checked;
    const begun = { id: newId(), authenticator: authenticator.name, device, origin };
    if (checked.identity === undefined) return beginNameless(checked.authenticator, begun);
    const userId = await entry.identify(checked.identity, origin.address);
    const visit = { ...begun, userId, deviceId: device.id };
    if (authenticator.steps === 1) return decideAtOnce(authenticator, visit, request);
    return begin(checked.authenticator as TwoStep, visit, { identity: checked.identity, pin: request.pin });
  }

  /** Both proofs are always evaluated, so that the time does not tell which one was wrong. */
  async function decideAtOnce(
    authenticator: SingleStep,
    visit: Begun & Visit,
    { secret = '', pin }: TokenRequest,
  ): Promise<LoginResult> {
    const { user, knownDevice, guess } = await entry.findToGuess(visit);
    const login = { ...visit, epoch: user?.epoch ?? 0, knownDevice };
    let second: Challenge | undefined;
    let since = 0;
    const verdict = await guess.evaluate(async () => {
      since = performance.now();
      const secretRight = await authenticator.verify(user, secret, login.id);
      const pinRight = await pinIsRight(pins, pinPolicy, user, pin);
      if (user === undefined || !secretRight || !pinRight) return 'wrong';
      second = await secondFactors.ask(user, login);
      return second === undefined && user.lock === undefined ? 'right' : 'halfway';
    });
    // The failure is counted by now, so that one which cannot be paid for is no free guess.
    if (verdict === 'wrong') await authenticator.refused?.(user, since);
    if (user === undefined || verdict === 'wrong') return reject(login);
    await end.refuseLocked(user, login);
    if (second !== undefined) return open(login, second, { factor: 2 });
    const { token, digest } = newToken('authentication', [user.userId, login.id]);
    const issued = { digest, lifetime: options.tokenLifetime, tells: options.tells };
    const approved = await guess.approve((settling) =>
      insertApprovedAuthentication(database.lane(user.userId), login, issued, settling),
    );
    // The user was changed between look-up and approval: what was proven no longer counts.
    if (approved === undefined) return reject(login);
    await end.claimTokens(user, login.device);
    await authenticator.approved?.(user, secret);
    await end.enrolFirstPin(user, pin);
    return { ...approved, token };
  }

  const reject = (login: NewAuthentication) => insertRejectedAuthentication(database, login, 'invalid_credentials');

  /**
   * Nothing here depends on whether the identity names somebody: the same work, rows and answer. A PIN that is sent
   * already is judged now but told only by step 2, or a wrong one would show that there is a user with a PIN.
   */
  async function begin(
    authenticator: TwoStep,
    visit: Begun & Visit,
    { identity, pin }: { readonly identity: Identity; readonly pin: string | undefined },
  ): Promise<LoginResult> {
    const { user, knownDevice } = await entry.find(visit);
    const login = { ...visit, epoch: user?.epoch ?? 0, knownDevice };
    const challenge = await authenticator.begin(user, login.id);
    const message =
      challenge.message === undefined ? undefined : await admitMessage(challenge.message, login, identity);
    const pinRefused = pin !== undefined && !(await pinIsRight(pins, pinPolicy, user, pin));
    return open(login, challenge, { factor: 1, pinRefused, message });
  }

  /** Whose login it is will be known from the answer. Until then it is nobody's, under an id of its own. */
  async function beginNameless(authenticator: SelfNaming, begun: Begun): Promise<LoginResult> {
    await limits.loginFrom(begun.origin.address);
    const login = { ...begun, userId: newId(), epoch: 0, knownDevice: undefined };
    return open(login, await authenticator.begin(login.id), { factor: 1 });
  }

  async function open(
    login: NewAuthentication,
    challenge: Challenge,
    state: Pick<OpenState, 'factor'> & Partial<OpenState>,
  ): Promise<LoginResult> {
    const record = await insertOpenAuthentication(database, login, challenge, state);
    if (state.message !== undefined) options.written();
    return withChallenge(record, challenge);
  }

  /** A message within the limits, sealed. One beyond its recipient's limit goes to nobody: a refusal would tell whose it is. */
  async function admitMessage(
    { channel, recipient, code }: CodeMessage,
    { userId, knownDevice, origin }: NewAuthentication,
    identity: Identity,
  ) {
    const turn = await limits.messageFrom(origin.address);
    await limits.messageOf(identityDigest(identity), knownDevice);
    const mayBeSent = await limits.messageTo({ userId, channel, identity, address: recipient, knownDevice });
    const id = newId();
    const to = mayBeSent ? recipient : undefined;
    return { id, channel, kind: `${channel}.code`, recipient: to, sealedCode: keys.seal(code, id), turn };
  }

  return { start, answer: createAnswer(options, registry, end) };
}
