import { type Database, sql } from '../database/database.js';
import type { AccountUser } from './accounts.js';
import { lockProblem } from './accounts.js';
import type { AuthenticationRecord, NewAuthentication } from './authentications.js';
import type { Challenge, ShownChallenge } from './authenticators/authenticator.js';
import { claimPushTokens } from './devices/push-devices.js';
import { recordEvent } from './events/events.js';
import type { PinPolicy } from './secrets/pin-check.js';
import type { Pins } from './secrets/pins.js';

/** An approved authentication carries its token, this once; one that waits for a secret may say what it needs. */
export type LoginResult = AuthenticationRecord & { readonly token?: string; readonly challenge?: ShownChallenge };

export function withChallenge(record: AuthenticationRecord, { shown }: Challenge): LoginResult {
  return shown === undefined ? record : { ...record, challenge: shown };
}

/** What follows the right secrets, in whichever step they came. */
export interface LoginEnd {
  /**
   * An operator's lock is told only here, to who has just given the right secret.
   * @throws Problem `account_locked`, `account_temporarily_locked`
   */
  refuseLocked(
    user: AccountUser,
    login: Pick<NewAuthentication, 'userId' | 'id' | 'authenticator' | 'origin'>,
  ): Promise<void>;
  /** A device that changed hands has the push token that it had: from now on it is this user's. */
  claimTokens(user: AccountUser, device: NewAuthentication['device']): Promise<void>;
  /** Makes the PIN of the first approved login the user's, where that is configured. */
  enrolFirstPin(user: AccountUser, pin: string | undefined): Promise<void>;
}

export interface LoginEndOptions {
  readonly database: Database;
  readonly pins: Pins;
  readonly pinPolicy: PinPolicy;
  /** Whether the PIN of the first approved login becomes the user's PIN. */
  readonly enrolPin: boolean;
}

const setFirstPin = sql('update users set pin_hash = $2, updated_at = db_now() where id = $1 and pin_hash is null');

export function createLoginEnd({ database, pins, pinPolicy, enrolPin }: LoginEndOptions): LoginEnd {
  return {
    async refuseLocked({ lock }, login) {
      if (lock === undefined) return;
      const { userId, origin, authenticator } = login;
      const data = { by: 'operator', authentication_id: login.id, authenticator };
      await recordEvent(database, { userId, type: 'login.refused_locked', origin, data });
      throw lockProblem(lock);
    },
    async claimTokens({ userId }, device) {
      const { apn_device_token, gcm_device_token } = device;
      if (!apn_device_token && !gcm_device_token) return;
      await claimPushTokens(database.lane(userId), userId, device.id, { apn_device_token, gcm_device_token });
    },
    async enrolFirstPin(user, pin) {
      if (!enrolPin || pinPolicy === 'off' || pin === undefined || user.pinHash !== undefined) return;
      await database.query(setFirstPin, [user.userId, await pins.hash(user.userId, pin)]);
    },
  };
}
