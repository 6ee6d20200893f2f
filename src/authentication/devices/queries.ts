import type { UserDevice } from '../../contract/administration.js';
import type { DeviceDescription } from '../../contract/device.js';
import { prepared, type Queryable } from '../../database/database.js';

/**
 * The rows of `devices`: where a user's logins were approved.
 *
 * Whoever needs a device and authentications on it locks the device first. So an approval and the removal of its device
 * come one after the other: the approval that is first is ended by the removal, the one that is second finds itself
 * rejected, or its device gone.
 */

/**
 * SQL: holds a device that is known already until the statement's transaction ends; no row when it is gone.
 * @param after what is done before, a row of which is waited for: locks are always taken in one order
 */
export const holdKnownDevice = (userId: string, deviceId: string, after: string) =>
  `select d.id from ${after}, devices d where d.user_id = ${userId} and d.id = ${deviceId}::uuid for key share of d`;

/** SQL: makes the devices of the approved authentications `from` known, or renews what is known of them; `is_new` tells which. */
export const recordDevice = (from: string) => `
  insert into devices as known (user_id, id, make, model, os_name, os_version, sdk_version, apn_device_token,
                                gcm_device_token, screen_width, screen_height, last_login_at, created_at, updated_at)
  select a.user_id, a.device_id, d.make, d.model, d.os_name, d.os_version, d.sdk_version, d.apn_device_token,
         d.gcm_device_token, d.screen_width, d.screen_height, a.updated_at, a.updated_at, a.updated_at
  from ${from} a cross join lateral jsonb_to_record(a.device) as d(
    make text, model text, os_name text, os_version text, sdk_version text, apn_device_token text,
    gcm_device_token text, screen_width text, screen_height text)
  on conflict (user_id, id) do update set
    make = coalesce(excluded.make, known.make), model = coalesce(excluded.model, known.model),
    os_name = coalesce(excluded.os_name, known.os_name), os_version = coalesce(excluded.os_version, known.os_version),
    sdk_version = coalesce(excluded.sdk_version, known.sdk_version),
    apn_device_token = coalesce(excluded.apn_device_token, known.apn_device_token),
    gcm_device_token = coalesce(excluded.gcm_device_token, known.gcm_device_token),
    screen_width = coalesce(excluded.screen_width, known.screen_width),
    screen_height = coalesce(excluded.screen_height, known.screen_height),
    last_login_at = excluded.last_login_at, updated_at = excluded.updated_at
  returning known.*, xmax = 0 as is_new`;

const findKnown = prepared('device_known', 'select id from devices where user_id = $1 and id = $2');

/** The device's id when the user was approved on it before, else undefined. For a stand-in's id: never. */
export async function findKnownDevice(
  handle: Queryable,
  userId: string,
  deviceId: string,
): Promise<string | undefined> {
  const [device] = await handle.query<{ id: string }>(findKnown, [userId, deviceId]);
  return device?.id;
}

/** Columns of `devices` as they are shown: of push tokens only whether there are any. */
export const deviceColumns = `
  id, make, model, os_name, os_version, sdk_version, screen_width, screen_height,
  jsonb_build_object('ios', apn_device_token <> '' is true, 'android', gcm_device_token <> '' is true,
                     'web', web_push_subscription is not null) as push,
  last_login_at, created_at, updated_at`;

const selectDevice = prepared('device_get', `select ${deviceColumns} from devices where user_id = $1 and id = $2`);
const selectDeviceForUpdate = prepared(
  'device_hold',
  `select ${deviceColumns} from devices where user_id = $1 and id = $2 for update`,
);

export async function findDevice(handle: Queryable, userId: string, id: string): Promise<UserDevice | undefined> {
  const [row] = await handle.query<UserDevice>(selectDevice, [userId, id]);
  return row;
}

/** The same, with the row locked until the transaction ends. */
export async function holdDevice(tx: Queryable, userId: string, id: string): Promise<UserDevice | undefined> {
  const [row] = await tx.query<UserDevice>(selectDeviceForUpdate, [userId, id]);
  return row;
}

const updateDescription = prepared(
  'device_describe',
  `update devices d
   set make = n.make, model = n.model, os_name = n.os_name, os_version = n.os_version, sdk_version = n.sdk_version,
       screen_width = n.screen_width, screen_height = n.screen_height, updated_at = db_now()
   from jsonb_to_record($3::jsonb) as n(make text, model text, os_name text, os_version text, sdk_version text,
                                        screen_width text, screen_height text)
   where d.user_id = $1 and d.id = $2
     and (d.make, d.model, d.os_name, d.os_version, d.sdk_version, d.screen_width, d.screen_height)
         is distinct from (n.make, n.model, n.os_name, n.os_version, n.sdk_version, n.screen_width, n.screen_height)
   returning d.id`,
);

/** Replaces what a device says of itself. False when it says nothing new: then nothing is written. */
export async function writeDescription(
  tx: Queryable,
  userId: string,
  id: string,
  description: DeviceDescription,
): Promise<boolean> {
  const { make, model, os_name, os_version, sdk_version, screen_width, screen_height } = description;
  const said = { make, model, os_name, os_version, sdk_version, screen_width, screen_height };
  return (await tx.query(updateDescription, [userId, id, said])).length > 0;
}

/**
 * Locked newest first, as the first use of a token locks them (`session_create`). What the device said of itself goes
 * from every authentication, ended ones too: push tokens are in it.
 */
const endLogins = prepared(
  'device_end_logins',
  `with login as materialized (
     select a.user_id, a.id from authentications a where a.user_id = $1 and a.device_id = $2
     order by a.approved_at desc nulls first, a.id desc for no key update of a)
   update authentications a
   set device = null,
       ended_at = case when a.status = 'approved' then coalesce(a.ended_at, n.now) else a.ended_at end,
       error_code = case when a.status in ('created', 'pending') then 'authorization_rejected' else a.error_code end,
       updated_at = case when a.status in ('created', 'pending') or (a.status = 'approved' and a.ended_at is null)
                    then n.now else a.updated_at end,
       status = case when a.status in ('created', 'pending') then 'rejected' else a.status end
   from login l cross join lateral (select db_now() as now) n
   where a.user_id = l.user_id and a.id = l.id`,
);

/** Ends every login on a device that is held: approved ones, and those that wait for their second step. */
export async function endDeviceLogins(tx: Queryable, userId: string, id: string): Promise<void> {
  await tx.query(endLogins, [userId, id]);
}

const deleteDevice = prepared('device_delete', 'delete from devices where user_id = $1 and id = $2');

/** Removes the row, and the push tokens with it. */
export async function forgetDevice(tx: Queryable, userId: string, id: string): Promise<void> {
  await tx.query(deleteDevice, [userId, id]);
}
