import type { DeliveryReason, PushChannel, WebPushSubscription } from '../contract/push.js';
import { arrayText } from '../database/array-text.js';
import type { Queryable } from '../database/database.js';
import { bound, compose, type SqlPart, sql, statement } from '../database/sql.js';
import { lockHolds } from '../identities/accounts.js';
import { loginEnd } from '../limits/login-policies.js';

/** A device of a user, and the channel that reaches it. */
export interface PushDevice {
  readonly user_id: string;
  readonly device_id: string;
  readonly channel: PushChannel;
}

/** Why a push cannot reach a device. */
export type UnreachableReason = Extract<
  DeliveryReason,
  'account_locked' | 'account_deactivated' | 'logged_out' | 'no_token'
>;

/** Whether pushes can reach a device now. */
export interface DeviceState {
  readonly device_id: string;
  /** The channels for which the device has a token. */
  readonly channels: readonly PushChannel[];
  /** Undefined: a push can reach the device, if it has a token. */
  readonly unreachable: UnreachableReason | undefined;
  readonly created_at: string;
}

/** SQL: the tokens of the device `d` by channel, the preferred channel first. The token of `web_push` is JSON text. */
const tokens = sql`(values ('apns', 1, nullif(d.apn_device_token, '')),
                           ('fcm', 2, nullif(d.gcm_device_token, '')),
                           ('web_push', 3, d.web_push_subscription::text)) as target (channel, preference, token)`;

/** SQL: the first of these channels for which the device `d` has a token; null: none. */
const firstChannel = (channels: SqlPart) =>
  sql`case when 'apns' = any (${channels}) and nullif(d.apn_device_token, '') is not null then 'apns'
                      when 'fcm' = any (${channels}) and nullif(d.gcm_device_token, '') is not null then 'fcm'
                      when 'web_push' = any (${channels}) and d.web_push_subscription is not null then 'web_push' end`;

/** SQL: whether the user `u` is logged in on the device `d`, by the same conditions as `validSessions`. */
const loggedIn = sql`exists (
  select 1 from authentications a
  where a.user_id = d.user_id and a.device_id = d.id and a.status = 'approved' and a.ended_at is null
    and ${loginEnd} > db_now() and a.epoch = u.epoch)`;

const unreachable = sql`case when u.status <> 'active' then 'account_deactivated'
                             when ${lockHolds} then 'account_locked'
                             when not ${loggedIn} then 'logged_out' end`;

/**
 * Finds the devices of these users that a push can reach: the user is active, not locked by an operator and logged in on the
 * device, and the device has a token. The result has each device once, with the first channel for which it has a token.
 * If a user has more than `perUser` such devices, it has those with the latest logins.
 *
 * Unprepared: a stored plan from a time when the tables were small would read whole tables.
 */
export function findReachableDevices(
  handle: Queryable,
  search: {
    readonly userIds: readonly string[];
    readonly channels: readonly PushChannel[];
    readonly perUser: number;
  },
): Promise<PushDevice[]> {
  const channel = firstChannel(sql`${bound(search.channels)}::text[]`);
  return handle.query(
    compose<PushDevice>(
      sql`
      select user_id, device_id, channel
      from (
        select d.user_id, d.id as device_id, ${channel} as channel,
               row_number() over (partition by d.user_id order by d.last_login_at desc, d.id) as place
        from users u join devices d on d.user_id = u.id
        where u.id = any (${bound(arrayText(search.userIds))}::uuid[]) and u.status = 'active' and not ${lockHolds}
          and ${channel} is not null and ${loggedIn}) reachable
      where place <= ${bound(search.perUser)}
      order by user_id, device_id`,
    ),
  );
}

interface TargetRow {
  token: string | null;
  unreachable: UnreachableReason | null;
  registered_at: number;
  locale: string | null;
  name: string;
  proven: string[];
}

const selectTarget = statement<PushDevice, TargetRow>(
  'push_devices_target',
  (p) => sql`
    select target.token, ${unreachable} as unreachable, extract(epoch from d.updated_at)::float8 * 1000 as registered_at,
           u.locale, u.name,
           array_remove(array[case when u.email_verified then u.email end, case when u.phone_verified then u.phone end], null) as proven
    from devices d join users u on u.id = d.user_id cross join lateral ${tokens}
    where d.user_id = ${p.user_id} and d.id = ${p.device_id} and target.channel = ${p.channel}`,
);

/** The token of a device, and what messages to its user need. */
interface ReachedDevice {
  readonly token: string;
  readonly registeredAt: number;
  readonly locale: string | null;
  readonly name: string;
  readonly proven: readonly string[];
}

/**
 * Reads the token for a push to a device, or the reason why the device cannot be reached. `registeredAt` is the time of the
 * last change of the device, in milliseconds of Unix time: every registration of a token changes it.
 */
export async function findPushTarget(
  handle: Queryable,
  device: PushDevice,
): Promise<ReachedDevice | { readonly unreachable: UnreachableReason }> {
  const [row] = await handle.query(selectTarget(device));
  // If there is no row, the device or the user was deleted, together with the logins.
  if (row === undefined) return { unreachable: 'logged_out' };
  if (row.unreachable !== null) return { unreachable: row.unreachable };
  const { token, registered_at: registeredAt, locale, name, proven } = row;
  return token === null ? { unreachable: 'no_token' } : { token, registeredAt, locale, name, proven };
}

type StateRow = Omit<DeviceState, 'unreachable'> & { unreachable: UnreachableReason | null };

const selectStates = statement<{ userId: string }, StateRow>(
  'push_devices_states',
  (p) => sql`
    select d.id as device_id, ${unreachable} as unreachable, d.created_at,
           array(select target.channel from ${tokens} where target.token is not null
                 order by target.preference) as channels
    from devices d join users u on u.id = d.user_id
    where d.user_id = ${p.userId} order by d.updated_at desc, d.id limit 100`,
);

/** The 100 devices of a user that changed last, the newest change first. */
export async function listDeviceStates(handle: Queryable, userId: string): Promise<DeviceState[]> {
  const rows = await handle.query(selectStates({ userId }));
  return rows.map((row) => ({ ...row, unreachable: row.unreachable ?? undefined }));
}

const deleteToken = statement<PushDevice & { token: string }>(
  'push_devices_delete_token',
  (p) => sql`
    with gone as (
    update devices
    set apn_device_token = case when ${p.channel} = 'apns' and apn_device_token = ${p.token} then null
                           else apn_device_token end,
        gcm_device_token = case when ${p.channel} = 'fcm' and gcm_device_token = ${p.token} then null
                           else gcm_device_token end,
        web_push_subscription = case when ${p.channel} = 'web_push' and web_push_subscription = ${p.token}::text::jsonb
                                then null else web_push_subscription end
    where user_id = ${p.user_id} and id = ${p.device_id}
      and ${p.token} = case ${p.channel}::text when 'apns' then apn_device_token when 'fcm' then gcm_device_token
                       else ${p.token} end
      and (${p.channel} <> 'web_push' or web_push_subscription = ${p.token}::text::jsonb)
    returning user_id, id)
    insert into webhook_outbox (created_at, type, user_ids, data)
    select db_now(), 'push.token_gone', array[user_id], jsonb_build_object('device_id', id, 'channel', ${p.channel}::text)
    from gone where exists (select from webhook_endpoints)`,
);

/** Deletes a token that the push service refused, unless the device has registered another one since then. */
export async function deletePushToken(handle: Queryable, device: PushDevice, token: string): Promise<void> {
  await handle.query(deleteToken({ ...device, token }));
}

/** The push tokens of a device, by their columns. */
export interface PushTokens {
  readonly apn_device_token?: string | undefined;
  readonly gcm_device_token?: string | undefined;
  readonly web_push_subscription?: WebPushSubscription | undefined;
}

interface ClaimValues {
  readonly userId: string;
  readonly deviceId: string;
  readonly apn: string | null;
  readonly gcm: string | null;
  readonly web: string | null;
}

/**
 * Gives the tokens to the device, and removes them from all other devices, including devices of other users. The function locks the tokens and then the rows in the order of their keys, so that two claims of one token run
 * one after the other.
 */
const claimTokens = statement<ClaimValues, { changed: boolean | null }>(
  'push_devices_claim',
  (p) => sql`
    select claim_push_tokens(${p.userId}, ${p.deviceId}, ${p.apn}, ${p.gcm}, ${p.web}::jsonb) as changed`,
);

/**
 * Gives tokens to a device and removes them from all other devices, also those of other users: a token belongs to one app
 * on one device.
 *
 * @returns whether a token is new to the device; undefined when there is no such device
 */
export async function claimPushTokens(
  handle: Queryable,
  userId: string,
  deviceId: string,
  { apn_device_token: apn, gcm_device_token: gcm, web_push_subscription: web }: PushTokens,
): Promise<boolean | undefined> {
  const [row] = await handle.query(
    claimTokens({
      userId,
      deviceId,
      apn: apn || null,
      gcm: gcm || null,
      web: web === undefined ? null : JSON.stringify(web),
    }),
  );
  return row?.changed ?? undefined;
}
