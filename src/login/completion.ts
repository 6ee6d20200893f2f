import { recordEvent } from '../audit/events.js';
import type { Challenge, ClientChallenge } from '../credentials/challenge.js';
import type { HashClient } from '../credentials/passwords.js';
import type { PinPolicy } from '../credentials/pins/pin-check.js';
import type { Pins } from '../credentials/pins/pins.js';
import type { Database } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import type { DeviceLimit } from '../devices/device-limit.js';
import { claimPushTokens } from '../devices/push-devices.js';
import { type AccountUser, lockProblem } from '../identities/accounts.js';
import type { Origin } from '../lib/origin.js';
import type { Counters } from '../statistics/counters.js';
import type { ApprovedRecord, AuthenticationRecord, NewAuthentication } from './authentications.js';
import type { AdmittedMessage } from './code-messages.js';

/** The token is shown once, in the response that approves. `challenge` describes the secret that the login waits for. */
export type LoginResult = AuthenticationRecord & {
  readonly token?: string;
  readonly user_id?: string;
  readonly challenge?: ClientChallenge;
  readonly destination?: string | null;
  readonly resend_at?: string;
  readonly recovery_codes?: readonly string[];
};

/** Adds what the client needs for the next secret to the record: the challenge, and where a code was sent. */
export function withChallenge(
  record: AuthenticationRecord,
  { clientChallenge, showsExpiry }: Challenge,
  message?: AdmittedMessage | undefined,
): LoginResult {
  const expiry = showsExpiry === true ? { expires_at: record.expires_at } : {};
  return {
    ...record,
    ...(clientChallenge !== undefined && { challenge: { ...clientChallenge, ...expiry } }),
    ...(message !== undefined && { destination: message.destination, resend_at: message.resendAt }),
  };
}

/** The work after correct secrets, in either step of a login. */
export interface LoginCompletion {
  /**
   * Refuses a login to an account that an operator has locked. Call it only after a correct secret, because the answer
   * reveals the lock.
   * @throws Problem `account_locked`, `account_temporarily_locked`
   */
  refuseLocked(
    user: AccountUser,
    login: Pick<NewAuthentication, 'userId' | 'id' | 'authenticator' | 'origin'>,
  ): Promise<void>;
  /**
   * Does the work that follows an approval. It never throws: the approval is committed, so its response must not be lost. A
   * part that fails is reported, and the next login does it.
   */
  finish(user: AccountUser, approved: ApprovedLogin): Promise<void>;
}

/** A login that was just approved. */
export interface ApprovedLogin {
  readonly device: NewAuthentication['device'];
  readonly record: Pick<ApprovedRecord, 'has_more_devices'>;
  readonly origin: Origin;
  /** The correct PIN; undefined if the login has none. */
  readonly pin: string | undefined;
  /** Stores a new hash of the password, if its hash has other parameters than new ones. */
  readonly rehash?: (() => Promise<void> | undefined) | undefined;
}

export interface LoginCompletionOptions {
  readonly database: Database;
  readonly pins: Pins;
  readonly pinPolicy: PinPolicy;
  /** Whether the PIN of the first approved login becomes the user's PIN. */
  readonly enrolPin: boolean;
  /** Called when a part of the work after an approval has failed. */
  readonly onUnfinished: (error: unknown) => void;
  readonly counters: Counters;
  readonly deviceLimit: Pick<DeviceLimit, 'removeUnused'>;
}

const setFirstPin = statement<{ userId: string; pinHash: string }>(
  'login_first_pin',
  (p) => sql`
  update users set pin_hash = ${p.pinHash}, updated_at = db_now() where id = ${p.userId} and pin_hash is null`,
);

/** Creates the work after correct secrets. */
export function createLoginCompletion(options: LoginCompletionOptions): LoginCompletion {
  const { database, pins, pinPolicy, enrolPin, onUnfinished, counters, deviceLimit } = options;

  /** Moves the device's push tokens to this user: the device may have belonged to another user before. */
  async function claimTokens({ userId }: AccountUser, device: NewAuthentication['device']): Promise<void> {
    const { apn_device_token, gcm_device_token } = device;
    if (!apn_device_token && !gcm_device_token) return;
    await claimPushTokens(database.user(userId), userId, device.id, { apn_device_token, gcm_device_token });
  }

  /** Stores the PIN of the first approved login as the user's PIN, where that is configured. */
  async function enrolFirstPin(
    { userId, pinHash }: AccountUser,
    pin: string | undefined,
    client: HashClient,
  ): Promise<void> {
    if (!enrolPin || pinPolicy === 'off' || pin === undefined || pinHash !== undefined) return;
    const hash = await pins.hash(userId, pin, client);
    await database.user(userId).query(setFirstPin({ userId, pinHash: hash }));
  }

  return {
    async refuseLocked({ lock }, { userId, id, authenticator, origin }) {
      if (lock === undefined) return;
      const data = { by: 'operator', authentication_id: id, authenticator };
      await recordEvent(database.user(userId), { userId, type: 'login.refused_locked', origin, data });
      counters.add('logins.failed', 'locked_by_operator', 1, authenticator);
      throw lockProblem(lock);
    },
    async finish(user, { device, record, origin, pin, rehash }) {
      const removeDevices = () => deviceLimit.removeUnused({ userId: user.userId, deviceId: device.id, origin });
      const tasks = [
        () => claimTokens(user, device),
        rehash,
        () => enrolFirstPin(user, pin, origin),
        record.has_more_devices ? removeDevices : undefined,
      ];
      for (const task of tasks) {
        try {
          await task?.();
        } catch (error) {
          onUnfinished(error);
        }
      }
    },
  };
}
