import type { LoginDevice } from '../contract/authentication.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { claimPushTokens } from '../devices/push-devices.js';
import { recordDevice } from '../devices/queries.js';
import { newToken } from '../lib/crypto/token-strings.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { type LoginPolicies, loginIdleTtl, loginTtl } from '../limits/login-policies.js';
import { type EventValues, eventCte, eventValues, insertEvent, recordColumns } from './authentication-fragments.js';
import type { AuthenticationRecord } from './authentications.js';
import type { LoginResult } from './completion.js';

/** The first login of a user who has just been created. All secrets were checked. */
export interface FirstAuthentication {
  readonly userId: string;
  readonly id: string;
  readonly device: LoginDevice;
  readonly authenticator: string;
  /** The thumbprint of the key that the token is bound to. Null: it is not bound. */
  readonly keyThumbprint: string | null;
  /** Null: the user has none. */
  readonly secondFactor: 'totp' | 'passkey' | null;
  readonly tokenDigest: Buffer;
  readonly policies: LoginPolicies;
}

interface Values extends FirstAuthentication, EventValues {
  readonly deviceId: string;
}

/** Inserts new rows only. No other transaction knows the user yet, so it waits for no lock and settles no guess. */
const insertFirst = statement<Values, AuthenticationRecord>(
  'authentication_first',
  (p) => sql`
  with clock as materialized (select db_now() as now),
  ${eventCte(p)},
  authentication as (
    insert into authentications (user_id, id, device_id, authenticator, status, epoch, device, token_digest, second_factor, key_thumbprint,
                                 expires_at, idle_expires_at, created_at, updated_at, approved_at)
    select u.id, ${p.id}, ${p.deviceId}, ${p.authenticator}, 'approved', u.epoch, ${p.device}::jsonb, ${p.tokenDigest},
           ${p.secondFactor}, ${p.keyThumbprint}, now + ${loginTtl(p.policies)}, now + ${loginIdleTtl(p.policies)}, now, now, now
    from users u, clock where u.id = ${p.userId}
    returning *),
  device as (${recordDevice(sql`authentication`)}),
  logged as (${insertEvent(sql`'login.approved'`)})
  select ${recordColumns} from authentication`,
);

/**
 * Approves the first login, in the transaction that creates the user.
 */
export async function insertFirstAuthentication(
  tx: Queryable,
  authentication: FirstAuthentication,
  origin: Origin,
): Promise<AuthenticationRecord> {
  const [record] = await tx.query(
    insertFirst({ ...authentication, deviceId: authentication.device.id, ...eventValues(origin) }),
  );
  if (record === undefined) throw new Error('an insert returned no row');
  return record;
}

/**
 * Logs a new user in, in the transaction that creates the user.
 * @returns the login with its token
 */
export async function logInFirst(
  tx: Queryable,
  login: Omit<FirstAuthentication, 'id' | 'tokenDigest'>,
  origin: Origin,
): Promise<LoginResult> {
  const { userId, device } = login;
  const id = newId();
  const { token, digest: tokenDigest } = newToken('authentication', [userId, id]);
  const record = await insertFirstAuthentication(tx, { ...login, id, tokenDigest }, origin);
  const { apn_device_token, gcm_device_token } = device;
  await claimPushTokens(tx, userId, device.id, { apn_device_token, gcm_device_token });
  return { ...record, token, user_id: userId };
}
