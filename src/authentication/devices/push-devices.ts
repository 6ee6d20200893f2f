import type { DeliveryReason, PushChannel, WebPushSubscription } from '../../contract/push.js';
import { prepared, type Queryable, sql } from '../../database/database.js';
import { lockHolds } from '../accounts.js';

/** A device of a user, and the way to reach it. */
export interface PushDevice {
  readonly user_id: string;
  readonly device_id: string;
  readonly channel: PushChannel;
}

/** Why a device cannot be reached. */
export type Unreachable = Extract<DeliveryReason, 'account_locked' | 'account_deactivated' | 'logged_out' | 'no_token'>;

/** What can be said of a device today. */
export interface DeviceState {
  readonly device_id: string;
  /** The channels that it has a token for. */
  readonly channels: readonly PushChannel[];
  /** Undefined: it can be reached, if it has a token. */
  readonly unreachable: Unreachable | undefined;
  readonly created_at: string;
}

/** The tokens of each channel; of a web subscription its JSON text. */
const tokens = `(values ('apns', 1, nullif(d.apn_device_token, '')),
                        ('fcm', 2, nullif(d.gcm_device_token, '')),
                        ('web_push', 3, d.web_push_subscription::text)) as way (channel, preference, token)`;

/** Whether somebody is logged in on the device `d` of the user `u`: what `sessions.verify` asks, without a session. */
const loggedIn = `exists (
  select 1 from authentications a
  where a.user_id = d.user_id and a.device_id = d.id and a.status = 'approved' and a.ended_at is null
    and a.expires_at > db_now() and a.epoch = u.epoch)`;

const unreachable = `case when u.status <> 'active' then 'account_deactivated'
                          when ${lockHolds} then 'account_locked'
                          when not ${loggedIn} then 'logged_out' end`;

/** Planned at each use: a plan that was kept from when the tables were small would read all of them for many users. */
const selectReachable = sql(
  `select distinct on (d.user_id, d.id) d.user_id, d.id as device_id, way.channel
   from devices d join users u on u.id = d.user_id cross join lateral ${tokens}
   where d.user_id = any ($1::uuid[]) and way.channel = any ($2::text[]) and way.token is not null
     and u.status = 'active' and not ${lockHolds} and ${loggedIn}
   order by d.user_id, d.id, way.preference`,
);
const selectTarget = prepared(
  'push_devices_target',
  `select way.token, ${unreachable} as unreachable
   from devices d join users u on u.id = d.user_id cross join lateral ${tokens}
   where d.user_id = $1 and d.id = $2 and way.channel = $3`,
);
const selectStates = prepared(
  'push_devices_states',
  `select d.id as device_id, ${unreachable} as unreachable, d.created_at,
          array(select way.channel from ${tokens} where way.token is not null order by way.preference) as channels
   from devices d join users u on u.id = d.user_id
   where d.user_id = $1 order by d.updated_at desc, d.id limit 100`,
);
const claimTokens = prepared('push_devices_claim', 'select claim_push_tokens($1, $2, $3, $4, $5::jsonb) as changed');
const forgetToken = prepared(
  'push_devices_forget',
  `update devices
   set apn_device_token = case when $3 = 'apns' and apn_device_token = $4 then null else apn_device_token end,
       gcm_device_token = case when $3 = 'fcm' and gcm_device_token = $4 then null else gcm_device_token end,
       web_push_subscription = case when $3 = 'web_push' and web_push_subscription = $4::text::jsonb then null
                                    else web_push_subscription end
   where user_id = $1 and id = $2`,
);

interface StateRow {
  device_id: string;
  unreachable: Unreachable | null;
  created_at: string;
  channels: PushChannel[];
}

/**
 * The devices of these users that a push may go to, each by one way: tokens of these channels, an active user without a
 * lock, and a login that still holds.
 */
export function reachableDevices(
  handle: Queryable,
  userIds: readonly string[],
  channels: readonly PushChannel[],
): Promise<PushDevice[]> {
  return handle.query<PushDevice>(selectReachable, [userIds, channels]);
}

/** The token to send to right now, or why there is none to send to. */
export async function pushTarget(
  handle: Queryable,
  { user_id, device_id, channel }: PushDevice,
): Promise<{ readonly token: string } | { readonly unreachable: Unreachable }> {
  const [row] = await handle.query<{ token: string | null; unreachable: Unreachable | null }>(selectTarget, [
    user_id,
    device_id,
    channel,
  ]);
  // Without a row the device was deleted, or the user, and the logins with them.
  if (row === undefined) return { unreachable: 'logged_out' };
  if (row.unreachable !== null) return { unreachable: row.unreachable };
  return row.token === null ? { unreachable: 'no_token' } : { token: row.token };
}

/** A user's devices, the ones used last first; 100 at most. */
export async function deviceStates(handle: Queryable, userId: string): Promise<DeviceState[]> {
  const rows = await handle.query<StateRow>(selectStates, [userId]);
  return rows.map((row) => ({ ...row, unreachable: row.unreachable ?? undefined }));
}

/** Removes a token that the push service no longer knows, unless the device has registered another one meanwhile. */
export async function forgetPushToken(
  handle: Queryable,
  { user_id, device_id, channel }: PushDevice,
  token: string,
): Promise<void> {
  await handle.query(forgetToken, [user_id, device_id, channel, token]);
}

/** The tokens by which a device can be reached, by the columns that hold them. */
export interface PushTokens {
  readonly apn_device_token?: string | undefined;
  readonly gcm_device_token?: string | undefined;
  readonly web_push_subscription?: WebPushSubscription | undefined;
}

/**
 * Gives tokens to a device and takes them from every other, also of another user: a token is one app on one device.
 * @returns whether they are new to the device; undefined when there is no such device
 */
export async function claimPushTokens(
  handle: Queryable,
  userId: string,
  deviceId: string,
  { apn_device_token: apn, gcm_device_token: gcm, web_push_subscription: web }: PushTokens,
): Promise<boolean | undefined> {
  const values = [userId, deviceId, apn || null, gcm || null, web === undefined ? null : JSON.stringify(web)];
  const [row] = await handle.query<{ changed: boolean | null }>(claimTokens, values);
  return row?.changed ?? undefined;
}
