import type { TokenRequest } from '../contract/authentication.js';
import { type Database, sql } from '../database/database.js';
import { newId, parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { type FieldError, Problem, refuseFaults } from '../lib/problem.js';
import type { SecretKeys } from '../lib/secret-keys.js';
import { sha256 } from '../lib/sha256.js';
import { newToken } from '../lib/token-strings.js';
import { type Account, type AccountUser, findAccount, getAccount, lockProblem } from './accounts.js';
import {
  type AuthenticationRecord,
  approveAuthentication,
  findAuthenticationOwner,
  insertApprovedAuthentication,
  insertOpenAuthentication,
  insertRejectedAuthentication,
  type NewAuthentication,
  type OpenAuthentication,
  rejectAuthentication,
  takeAuthenticationGuess,
} from './authentications.js';
import type { Authenticator, CodeMessage, SingleStep, TwoStep } from './authenticators/authenticator.js';
import { findKnownDevice } from './device-queries.js';
import { recordEvent } from './events.js';
import type { GuessBudget } from './guess-budget.js';
import { canonicalIdentity, type Identity } from './identity.js';
import { identityDigest } from './identity-digest.js';
import { type PinPolicy, pinIsRight } from './pin-check.js';
import type { Pins } from './pins.js';
import { claimPushTokens } from './push-devices.js';
import type { RequestLimits } from './request-limits.js';

/** An approved authentication carries its token, this once. */
export type LoginResult = AuthenticationRecord & { readonly token?: string };

/** Step 2 as the client sends it. */
export interface Answer {
  readonly secret: string;
  readonly pin: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Logging in: from an identity and a secret to an authentication token. */
export interface Login {
  /**
   * Step 1. A wrong secret is no error but a rejected authentication, the same for unknown identities.
   * @throws Problem `validation_failed`; to who gave the right secret, `account_locked` or `account_temporarily_locked`.
   */
  start(request: TokenRequest, origin: Origin): Promise<LoginResult>;
  /**
   * Step 2.
   * @throws Problem `authorization_rejected`, the same for wrong, lapsed, used-up and unknown; locks as in step 1.
   */
  answer(id: string, answer: Answer, origin: Origin): Promise<LoginResult>;
}

export interface LoginOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly pins: Pins;
  readonly guesses: GuessBudget;
  readonly limits: RequestLimits;
  readonly authenticators: readonly Authenticator[];
  readonly pinPolicy: PinPolicy;
  /** Whether the PIN of the first approved login becomes the user's PIN. */
  readonly enrolPin: boolean;
  /** Milliseconds an authentication token lives. */
  readonly tokenLifetime: number;
  readonly defaultRegion: string | undefined;
}

export function createLogin(options: LoginOptions): Login {
  const { database, keys, pins, pinPolicy, guesses, limits } = options;
  const registry = new Map(options.authenticators.map((authenticator) => [authenticator.name, authenticator]));

  async function start(request: TokenRequest, origin: Origin): Promise<LoginResult> {
    const { authenticator, identity, device } = checkRequest(request);
    await limits.loginFrom(origin.address);
    const account = await findAccount(database, keys, identity);
    const knownDevice = await findKnownDevice(database, account.userId, device.id);
    await limits.loginTo(account.userId, knownDevice);
    const login: NewAuthentication = {
      id: newId(),
      userId: account.userId,
      epoch: account.user?.epoch ?? 0,
      authenticator: authenticator.name,
      device,
      knownDevice,
      origin,
    };
    if (authenticator.steps === 1) return decideAtOnce(authenticator, account, login, request);
    return begin(authenticator, account, login, { identity, pin: request.pin });
  }

  function checkRequest(request: TokenRequest) {
    const faults: FieldError[] = [];
    const authenticator = registry.get(request.authenticator);
    if (authenticator === undefined) faults.push({ field: 'authenticator', code: 'unknown_authenticator' });
    if (authenticator?.steps === 1 && request.secret === undefined) faults.push({ field: 'secret', code: 'required' });
    const { type, value } = request.identity;
    const identity = canonicalIdentity(type, value, options.defaultRegion);
    if (identity === undefined) faults.push({ field: 'identity.value', code: 'invalid_identity', params: { type } });
    refuseFaults(faults);
    return { authenticator, identity, device: describeDevice(request) } as {
      authenticator: Authenticator;
      identity: Identity;
      device: NewAuthentication['device'];
    };
  }

  /** Both proofs are always evaluated, so that the time does not tell which one was wrong. */
  async function decideAtOnce(
    authenticator: SingleStep,
    { user }: Account,
    login: NewAuthentication,
    { secret = '', pin }: TokenRequest,
  ): Promise<LoginResult> {
    const right = await guesses.guess({ ...login, deviceId: login.device.id }, async () => {
      const secretRight = await authenticator.verify(user, secret);
      const pinRight = await pinIsRight(pins, pinPolicy, user, pin);
      return user !== undefined && secretRight && pinRight;
    });
    // The failure is counted by now, so that one which cannot be paid for is no free guess.
    if (!right) await authenticator.refused?.(user);
    if (user === undefined || !right) return insertRejectedAuthentication(database, login, 'invalid_credentials');
    await refuseLocked(user, login);
    const { token, digest } = newToken('authentication', [user.userId, login.id]);
    const lifetime = options.tokenLifetime;
    const approved = await insertApprovedAuthentication(database.lane(user.userId), login, { digest, lifetime });
    // The user was changed between look-up and approval: what was proven no longer counts.
    if (approved === undefined) return insertRejectedAuthentication(database, login, 'invalid_credentials');
    await claimTokens(user, login.device);
    await authenticator.approved?.(user, secret);
    await enrolFirstPin(user, pin);
    return { ...approved, token };
  }

  /**
   * Nothing here depends on whether the identity names somebody: the same work, row, job and answer. A PIN that is sent
   * already is judged now but told only by step 2, or a wrong one would show that there is a user with a PIN.
   */
  async function begin(
    authenticator: TwoStep,
    { user }: Account,
    login: NewAuthentication,
    asked: { readonly identity: Identity; readonly pin: string | undefined },
  ): Promise<LoginResult> {
    const { identity, pin } = asked;
    const challenge = await authenticator.begin(user, login.id);
    const message =
      challenge.message === undefined ? undefined : await admitMessage(challenge.message, login, identity);
    const pinRefused = pin !== undefined && !(await pinIsRight(pins, pinPolicy, user, pin));
    return insertOpenAuthentication(database, login, challenge, { pinRefused, message });
  }

  /** A message within the limits, sealed. One beyond its recipient's limit goes to nobody: a refusal would tell whose it is. */
  async function admitMessage(
    { channel, recipient, code }: CodeMessage,
    { userId, knownDevice, origin }: NewAuthentication,
    identity: Identity,
  ) {
    await limits.messageFrom(origin.address);
    await limits.messageOf(identityDigest(identity), knownDevice);
    const mayBeSent = await limits.messageTo({ userId, address: recipient, knownDevice });
    const id = newId();
    const to = mayBeSent ? recipient : undefined;
    return { id, channel, kind: `${channel}.code`, recipient: to, sealedCode: keys.seal(code, id) };
  }

  async function answer(
    givenId: string,
    { secret, pin, idempotencyKey }: Answer,
    origin: Origin,
  ): Promise<LoginResult> {
    const id = parseId(givenId);
    await limits.loginFrom(origin.address);
    const owner = id === undefined ? undefined : await findAuthenticationOwner(database, id);
    if (owner === undefined) {
      // The dear part is done all the same; the rest need not be hidden: ids are random, and who holds one knows of it.
      await pinIsRight(pins, pinPolicy, undefined, pin);
      throw rejection(givenId);
    }
    const knownDevice = await findKnownDevice(database, owner.userId, owner.deviceId);
    await limits.loginTo(owner.userId, knownDevice);
    const { user } = await getAccount(database, owner.userId);
    const approvalKey = idempotencyKey === undefined ? undefined : sha256(idempotencyKey);
    let open: OpenAuthentication | undefined;
    const right = await guesses.guess({ ...owner, knownDevice, origin }, async () => {
      open = await takeAuthenticationGuess(database.lane(owner.userId), owner, approvalKey);
      const secretRight = open !== undefined && (await secretIsRight(open, secret));
      const pinRight = await pinIsRight(pins, pinPolicy, user, pin);
      // Nothing was there to be guessed: it does not count.
      if (open === undefined) throw rejection(givenId);
      return user !== undefined && secretRight && pinRight && !open.pin_refused;
    });
    if (open === undefined || user === undefined || !right) {
      if (open !== undefined) await rejectAuthentication(database.lane(open.user_id), open, origin);
      throw rejection(givenId);
    }
    await refuseLocked(user, { ...open, userId: open.user_id, origin });
    const { token, digest } = newToken('authentication', [user.userId, open.id]);
    const issued = { digest, lifetime: options.tokenLifetime };
    const approved = await approveAuthentication(database.lane(user.userId), open, issued, approvalKey, origin);
    if (approved === undefined) throw rejection(givenId);
    await claimTokens(user, open.device);
    await enrolFirstPin(user, pin);
    return { ...approved, token };
  }

  async function secretIsRight(open: OpenAuthentication, secret: string): Promise<boolean> {
    const authenticator = registry.get(open.authenticator);
    // An authenticator that was configured away since step 1 approves nothing.
    return authenticator?.steps === 2 && authenticator.verify(open.challenge, open.id, secret);
  }

  /** An operator's lock is told only here, to who has just given the right secret. */
  async function refuseLocked(
    { lock }: AccountUser,
    login: Pick<NewAuthentication, 'userId' | 'id' | 'authenticator' | 'origin'>,
  ): Promise<void> {
    if (lock === undefined) return;
    const { userId, origin, authenticator } = login;
    const data = { authentication_id: login.id, authenticator };
    await recordEvent(database, { userId, type: 'login.refused_locked', origin, data });
    throw lockProblem(lock);
  }

  /** A device that changed hands has the push token that it had: from now on it is this user's. */
  async function claimTokens({ userId }: AccountUser, device: NewAuthentication['device']): Promise<void> {
    const { apn_device_token, gcm_device_token } = device;
    if (!apn_device_token && !gcm_device_token) return;
    await claimPushTokens(database.lane(userId), userId, device.id, { apn_device_token, gcm_device_token });
  }

  async function enrolFirstPin(user: AccountUser, pin: string | undefined): Promise<void> {
    if (!options.enrolPin || pinPolicy === 'off' || pin === undefined || user.pinHash !== undefined) return;
    await database.query(setFirstPin, [user.userId, await pins.hash(user.userId, pin)]);
  }

  return { start, answer };
}

const setFirstPin = sql('update users set pin_hash = $2, updated_at = db_now() where id = $1 and pin_hash is null');

/** What the client said of its device and nothing else; the id is made when it is missing. */
function describeDevice({ device }: TokenRequest): NewAuthentication['device'] {
  const { make, model, os_name, os_version, sdk_version, apn_device_token, gcm_device_token } = device;
  const { screen_width, screen_height } = device;
  const id = (device.id === undefined ? undefined : parseId(device.id)) ?? newId();
  return JSON.parse(
    JSON.stringify({
      ...{ id, make, model, os_name, os_version, sdk_version, apn_device_token, gcm_device_token },
      ...{ screen_width, screen_height },
    }),
  );
}

/** One answer for wrong, lapsed, used-up and unknown: it says nothing of which. */
function rejection(id: string): Problem {
  return new Problem('authorization_rejected', {
    members: { authentication: { id: parseId(id) ?? id, status: 'rejected', error_code: 'authorization_rejected' } },
  });
}
