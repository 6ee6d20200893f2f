import type { Challenge } from '../credentials/challenge.js';
import { isPinCorrect } from '../credentials/pins/pin-check.js';
import type { Identity } from '../identities/identity.js';
import { newId } from '../lib/ids.js';
import type { AccountLookup, LoginAttempt } from './account-lookup.js';
import { insertOpenAuthentication, type NewAuthentication, type OpenState } from './authentications.js';
import type { TwoStep, UserIdentifying } from './authenticators/authenticator.js';
import type { AdmittedMessage } from './code-messages.js';
import { beginSignUp } from './code-sign-up.js';
import { type LoginResult, withChallenge } from './completion.js';
import type { RedirectRequest } from './providers/redirect-state.js';
import type { SecondStepOptions } from './second-step.js';

/** A login before its user is known. */
export type StartedLogin = Pick<NewAuthentication, 'id' | 'authenticator' | 'device' | 'keyThumbprint' | 'origin'>;

export type OpeningOptions = Pick<
  SecondStepOptions,
  'database' | 'keys' | 'pins' | 'pinPolicy' | 'limits' | 'messages' | 'onMessageWritten'
>;

/** What a login by an identity asks for. */
interface IdentityRequest {
  readonly identity: Identity;
  readonly pin: string | undefined;
  /** Whether the right code makes an account, if nobody has the identity. */
  readonly signsUp: boolean;
  /** Where the link of the mail leads; undefined: to the page of Postern that shows the code. */
  readonly linkTo: string | undefined;
}

/** Creates the functions that open a login: it waits for another secret. */
export function createLoginOpening(options: OpeningOptions, lookup: AccountLookup) {
  const { database, keys, pins, pinPolicy, limits, messages } = options;

  /**
   * Known and unknown identities cause the same work, rows and response. A PIN in this request is checked now, but its
   * result shows in step 2 only: a wrong PIN would otherwise reveal that there is a user with a PIN.
   */
  function begin(
    authenticator: TwoStep,
    attempt: StartedLogin & LoginAttempt,
    request: IdentityRequest,
  ): Promise<LoginResult> {
    const run = () => beginInTurn(authenticator, attempt, request);
    const { userId, origin } = attempt;
    return authenticator.sendsCode === true
      ? limits.inCodeQueue({ userId, clientAddress: origin.clientAddress }, run)
      : run();
  }

  async function beginInTurn(
    authenticator: TwoStep,
    attempt: StartedLogin & LoginAttempt,
    { identity, pin, signsUp, linkTo }: IdentityRequest,
  ): Promise<LoginResult> {
    const { user, knownDevice } = await lookup.find(attempt);
    const login = { ...attempt, epoch: user?.epoch ?? 0, knownDevice };
    const challenge = signsUp
      ? await beginSignUp(authenticator, { keys, login, user, identity })
      : await authenticator.begin(user, login.id);
    const message = await messages.admit(challenge.message, login, identity, { to: linkTo, device: login.device });
    const pinRefused = pin !== undefined && !(await isPinCorrect(pins, pinPolicy, user, pin, attempt.origin));
    return open(login, challenge, { factor: 1, pinRefused, message });
  }

  /** The answer to the challenge identifies the user. Until then the login has a temporary user id. */
  async function beginWithoutIdentity(
    authenticator: UserIdentifying,
    startedLogin: StartedLogin,
    request: RedirectRequest,
  ): Promise<LoginResult> {
    await limits.countLoginByAddress(startedLogin.origin.clientAddress);
    const login = { ...startedLogin, userId: newId(), epoch: 0, knownDevice: undefined };
    return open(login, await authenticator.begin(login.id, request), { factor: 1, pinRefused: false });
  }

  async function open(
    login: NewAuthentication,
    challenge: Challenge,
    state: Pick<OpenState, 'factor' | 'pinRefused'> & { readonly message?: AdmittedMessage | undefined },
  ): Promise<LoginResult> {
    const record = await insertOpenAuthentication(database.user(login.userId), login, challenge, state);
    if (state.message !== undefined) options.onMessageWritten();
    return withChallenge(record, challenge, state.message);
  }

  return { begin, beginWithoutIdentity, open };
}
