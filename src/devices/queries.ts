import type { UserDevice } from '../contract/administration.js';
import type { DeviceDescription } from '../contract/device.js';
import type { Queryable } from '../database/database.js';
import { type Sql, type SqlPart, sql, statement } from '../database/sql.js';

/**
 * The rows of `devices`: where a user's logins were approved.
 *
 * A transaction that needs a device and its authentications locks the device first. So an approval and the removal of
 * its device run one after the other, and the second transaction sees what the first one did.
 */

/**
 * SQL: locks a known device until the transaction ends. Returns no row if the device was removed.
 *
 * @param device.after a CTE that must run first, so that all statements take their locks in one order
 */
export function lockKnownDevice(device: {
  readonly userId: SqlPart;
  readonly deviceId: SqlPart;
  readonly after: SqlPart;
}): Sql {
  const { userId, deviceId, after } = device;
  return sql`select d.id from ${after}, devices d where d.user_id = ${userId} and d.id = ${deviceId}::uuid for key share of d`;
}

/**
 * SQL: inserts or updates the devices of approved authentications. In the result, `is_new` marks inserted devices.
 *
 * @param from the CTE of the authentications
 */
export function recordDevice(from: SqlPart): Sql {
  return sql`
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
}

/** The key of a device. */
interface DeviceKey {
  readonly userId: string;
  readonly id: string;
}

const selectKnown = statement<DeviceKey, { id: string }>(
  'device_known',
  (p) => sql`select id from devices where user_id = ${p.userId} and id = ${p.id}`,
);

/**
 * The device's id when a login of the user was approved on it, else undefined. Always undefined for a derived id (the id of an identity
 * without an account).
 */
export async function findKnownDevice(
  handle: Queryable,
  userId: string,
  deviceId: string,
): Promise<string | undefined> {
  const [device] = await handle.query(selectKnown({ userId, id: deviceId }));
  return device?.id;
}

/**
 * SQL: the columns of `devices` that the API shows. `push` only says which kinds of push token there are. Use it where
 * `devices` has no alias.
 */
export const deviceColumns = sql`
  id, make, model, os_name, os_version, sdk_version, screen_width, screen_height,
  jsonb_build_object('ios', apn_device_token <> '' is true, 'android', gcm_device_token <> '' is true,
                     'web', web_push_subscription is not null) as push,
  coalesce((select t.key_thumbprint is not null from authentications t
            where t.user_id = devices.user_id and t.device_id = devices.id and t.status = 'approved' and t.ended_at is null
            order by t.approved_at desc limit 1), false) as is_bound,
  last_login_at, created_at, updated_at`;

const selectDevice = statement<DeviceKey, UserDevice>(
  'device_get',
  (p) => sql`select ${deviceColumns} from devices where user_id = ${p.userId} and id = ${p.id}`,
);
const selectDeviceForUpdate = statement<DeviceKey, UserDevice>(
  'device_lock',
  (p) => sql`select ${deviceColumns} from devices where user_id = ${p.userId} and id = ${p.id} for update`,
);

/** Finds a device of a user; undefined if there is none. */
export async function findDevice(handle: Queryable, userId: string, id: string): Promise<UserDevice | undefined> {
  const [row] = await handle.query(selectDevice({ userId, id }));
  return row;
}

/** Finds a device and locks its row until the transaction ends. */
export async function findDeviceForUpdate(tx: Queryable, userId: string, id: string): Promise<UserDevice | undefined> {
  const [row] = await tx.query(selectDeviceForUpdate({ userId, id }));
  return row;
}

const updateDescriptionRow = statement<DeviceKey & { description: object }, { id: string }>(
  'device_describe',
  (p) => sql`
    update devices d
    set make = n.make, model = n.model, os_name = n.os_name, os_version = n.os_version, sdk_version = n.sdk_version,
        screen_width = n.screen_width, screen_height = n.screen_height, updated_at = db_now()
    from jsonb_to_record(${p.description}::jsonb) as n(make text, model text, os_name text, os_version text,
                                                       sdk_version text, screen_width text, screen_height text)
    where d.user_id = ${p.userId} and d.id = ${p.id}
      and (d.make, d.model, d.os_name, d.os_version, d.sdk_version, d.screen_width, d.screen_height)
          is distinct from (n.make, n.model, n.os_name, n.os_version, n.sdk_version, n.screen_width, n.screen_height)
    returning d.id`,
);

/**
 * Replaces the description of a device.
 *
 * @returns false when the description is the same: then nothing is written
 */
export async function updateDescription(
  tx: Queryable,
  userId: string,
  id: string,
  description: DeviceDescription,
): Promise<boolean> {
  const { make, model, os_name, os_version, sdk_version, screen_width, screen_height } = description;
  const fields = { make, model, os_name, os_version, sdk_version, screen_width, screen_height };
  const updatedRows = await tx.query(updateDescriptionRow({ userId, id, description: fields }));
  return updatedRows.length > 0;
}

/** SQL: the id of the login of the pages from which a login `a` with the authenticator `page` came. */
export const pageLoginOf = sql`((a.challenge ->> 'redirect')::jsonb ->> 'pageLogin')::uuid`;

/**
 * Locks the authentications newest first, in the order in which the first use of a token locks them (`session_create`).
 * Clears the column `device` of ended authentications too, because it holds push tokens.
 */
const endLogins = statement<DeviceKey & { endsPageLogins: boolean }>(
  'device_end_logins',
  (p) => sql`
    with login as materialized (
      select a.user_id, a.id from authentications a where a.user_id = ${p.userId} and (a.device_id = ${p.id}
        or ${p.endsPageLogins}::boolean and a.id = any (array(
          select ${pageLoginOf} from authentications a
          where a.user_id = ${p.userId} and a.device_id = ${p.id} and a.authenticator = 'page'
            and a.status = 'approved' and a.ended_at is null)))
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

/**
 * Ends every login on a device whose row is locked: approved logins, and those that are still open.
 * @param endsPageLogins also the logins of the pages from which the logins on this device came: they would open the app again
 */
export async function endDeviceLogins(
  tx: Queryable,
  userId: string,
  id: string,
  { endsPageLogins }: { readonly endsPageLogins: boolean },
): Promise<void> {
  await tx.query(endLogins({ userId, id, endsPageLogins }));
}

const deleteDeviceRow = statement<DeviceKey>(
  'device_delete',
  (p) => sql`delete from devices where user_id = ${p.userId} and id = ${p.id}`,
);

/** Deletes a device with its push tokens. */
export async function deleteDevice(tx: Queryable, userId: string, id: string): Promise<void> {
  await tx.query(deleteDeviceRow({ userId, id }));
}
