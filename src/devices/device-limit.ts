import { changesBetween } from '../audit/changes.js';
import { recordEvent } from '../audit/events.js';
import type { UserDevice } from '../contract/administration.js';
import type { Database } from '../database/database.js';
import { literal, type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import type { Origin } from '../lib/origin.js';
import { type LoginPolicies, maxDevicesOf } from '../limits/login-policies.js';
import type { Notices } from '../messages/notices.js';
import { auditedMembers, removedDevice } from './devices.js';
import { deleteDevice, deviceColumns, endDeviceLogins } from './queries.js';

/** Removes the devices of users who have more than the policy of their role allows. */
export interface DeviceLimit {
  /**
   * Call it at the first session of a login, if `hasMoreDevices` is true. Removes the devices that were unused for longest, ends
   * their logins, and notifies the user. It never throws: the session is committed. The next login does what failed.
   */
  removeOldest(login: LimitedLogin): Promise<void>;
  /**
   * Call it at the approval of a login on a new device, if `hasMoreDevices` is true. Removes the oldest devices on which no
   * session was ever created: their logins do not reach `removeOldest`.
   */
  removeUnused(login: LimitedLogin): Promise<void>;
}

/** A login whose device stays. */
export interface LimitedLogin {
  readonly userId: string;
  readonly deviceId: string;
  readonly origin: Origin;
}

/**
 * How many devices beyond the limit a user may have whose logins wait for their first session. A few logins at the same time
 * do not end each other.
 */
const unusedReserve = 10;
/** The maximum number of devices that one login removes. A user of a release without the limit may have many more. */
const maxRemoved = 50;

/** SQL: whether a user has more devices than allowed, as far as the statement sees them. @param policies `LoginPolicies` */
export function hasMoreDevices(userId: SqlPart, policies: SqlPart): Sql {
  return moreDevicesThan(userId, maxDevicesOf(policies, userId));
}

const moreDevicesThan = (userId: SqlPart, max: Sql): Sql => sql`(select count(*) > ${max} from (
    select from devices known where known.user_id = ${userId} and not known.is_page limit ${max} + 1) counted)`;

/** SQL: `hasMoreDevices` at an approval, before the new device is stored. */
export function hasMoreUnusedDevices(userId: SqlPart, policies: SqlPart): Sql {
  return moreDevicesThan(userId, sql`(${maxDevicesOf(policies, userId)} + ${literal(unusedReserve - 1)})`);
}

/** Locks the user's row, so that parallel logins remove devices one after the other. */
const lockUser = statement<{ userId: string }, { id: string }>(
  'device_limit_lock_user',
  (p) => sql`select id from users where id = ${p.userId} for no key update`,
);

/**
 * The devices beyond the newest ones, the one unused for longest first. A device is used when a session is created: the stored
 * sessions and logins show it, and `last_used_at` shows it after these were removed.
 */
interface OldestValues {
  readonly userId: string;
  readonly deviceId: string;
  readonly policies: LoginPolicies;
  /** Devices beyond the limit that stay. */
  readonly reserve: number;
  readonly onlyUnused: boolean;
}

const selectOldest = statement<OldestValues, UserDevice>(
  'device_limit_oldest',
  (p) => sql`
    with used as (
      select d.id, d.last_login_at, greatest(d.last_used_at,
               (select max(s.created_at) from sessions s where s.user_id = d.user_id and s.device_id = d.id),
               (select max(a.first_used_at) from authentications a where a.user_id = d.user_id and a.device_id = d.id)
             ) as used_at
      from devices d where d.user_id = ${p.userId} and not d.is_page),
    ordered as (
      select id, used_at, last_login_at,
             row_number() over (order by id = ${p.deviceId} desc, used_at desc nulls last, last_login_at desc, id) as place
      from used)
    select ${deviceColumns} from devices join (
      select id as old, used_at, last_login_at as logged_in_at from ordered
      where place > ${maxDevicesOf(p.policies, p.userId)} + ${p.reserve}::integer and id <> ${p.deviceId} and (used_at is null or not ${p.onlyUnused}::boolean)
      order by used_at nulls first, last_login_at, id limit ${literal(maxRemoved)}) oldest on oldest.old = devices.id
    where devices.user_id = ${p.userId}
    order by oldest.used_at nulls first, oldest.logged_in_at, id`,
);

/** Creates the limit. */
export function createDeviceLimit(
  database: Database,
  options: {
    readonly policies: LoginPolicies;
    readonly notices: Pick<Notices, 'notify'>;
    /** Called when the devices beyond the limit could not be removed. */
    readonly onUnfinished: (error: unknown) => void;
  },
): DeviceLimit {
  const { policies, notices, onUnfinished } = options;
  const remove = ({ userId, deviceId, origin }: LimitedLogin, limit: { reserve: number; onlyUnused: boolean }) =>
    database.user(userId).transaction(async (tx) => {
      await tx.query(lockUser({ userId }));
      for (const device of await tx.query(selectOldest({ userId, deviceId, policies, ...limit }))) {
        // First, because the notice copies the description of the device.
        await notices.notify(tx, { userId, kind: 'device_removed', origin: { ...origin, deviceId: device.id } });
        await endDeviceLogins(tx, userId, device.id, { endsPageLogins: false });
        await deleteDevice(tx, userId, device.id);
        const changes = changesBetween(auditedMembers, device, removedDevice);
        const data = { device_id: device.id, cause: 'max_devices' };
        await recordEvent(tx, { userId, type: 'device.removed', origin, data, changes });
      }
    });
  return {
    removeOldest: (login) => remove(login, { reserve: 0, onlyUnused: false }).catch(onUnfinished),
    removeUnused: (login) => remove(login, { reserve: unusedReserve, onlyUnused: true }).catch(onUnfinished),
  };
}
