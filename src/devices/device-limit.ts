import { changesBetween } from '../audit/changes.js';
import { recordEvent } from '../audit/events.js';
import type { UserDevice } from '../contract/administration.js';
import type { Database } from '../database/database.js';
import { literal, type Sql, type SqlPart, sql, statement } from '../database/sql.js';
import type { Origin } from '../lib/origin.js';
import type { Notices } from '../messages/notices.js';
import { auditedMembers, removedDevice } from './devices.js';
import { deleteDevice, deviceColumns, endDeviceLogins } from './queries.js';

/** Removes the devices of users who have more than `MAX_DEVICES`. */
export interface DeviceLimit {
  /** The setting `MAX_DEVICES`. */
  readonly max: number;
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

/** SQL: whether a user has more than this number of devices, as far as the statement sees them. */
export function hasMoreDevices(userId: SqlPart, max: SqlPart): Sql {
  return sql`(select count(*) > ${max}::integer from (
    select from devices known where known.user_id = ${userId} limit ${max}::integer + 1) counted)`;
}

/** SQL: `hasMoreDevices` at an approval, before the new device is stored. */
export function hasMoreUnusedDevices(userId: SqlPart, max: SqlPart): Sql {
  return hasMoreDevices(userId, sql`(${max}::integer + ${literal(unusedReserve - 1)})`);
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
const selectOldest = statement<{ userId: string; deviceId: string; max: number; onlyUnused: boolean }, UserDevice>(
  'device_limit_oldest',
  (p) => sql`
    with used as (
      select d.id, d.last_login_at, greatest(d.last_used_at,
               (select max(s.created_at) from sessions s where s.user_id = d.user_id and s.device_id = d.id),
               (select max(a.first_used_at) from authentications a where a.user_id = d.user_id and a.device_id = d.id)
             ) as used_at
      from devices d where d.user_id = ${p.userId}),
    ordered as (
      select id, used_at, last_login_at,
             row_number() over (order by id = ${p.deviceId} desc, used_at desc nulls last, last_login_at desc, id) as place
      from used)
    select ${deviceColumns} from devices join (
      select id as old, used_at, last_login_at as logged_in_at from ordered
      where place > ${p.max} and id <> ${p.deviceId} and (used_at is null or not ${p.onlyUnused}::boolean)
      order by used_at nulls first, last_login_at, id limit ${literal(maxRemoved)}) oldest on oldest.old = devices.id
    where devices.user_id = ${p.userId}
    order by oldest.used_at nulls first, oldest.logged_in_at, id`,
);

/** Creates the limit. @param options.max the setting `MAX_DEVICES` */
export function createDeviceLimit(
  database: Database,
  options: {
    readonly max: number;
    readonly notices: Pick<Notices, 'notify'>;
    /** Called when the devices beyond the limit could not be removed. */
    readonly onUnfinished: (error: unknown) => void;
  },
): DeviceLimit {
  const { max, notices, onUnfinished } = options;
  const remove = ({ userId, deviceId, origin }: LimitedLogin, limit: { max: number; onlyUnused: boolean }) =>
    database.user(userId).transaction(async (tx) => {
      await tx.query(lockUser({ userId }));
      for (const device of await tx.query(selectOldest({ userId, deviceId, ...limit }))) {
        // First, because the notice copies the description of the device.
        await notices.notify(tx, { userId, kind: 'device_removed', origin: { ...origin, deviceId: device.id } });
        await endDeviceLogins(tx, userId, device.id);
        await deleteDevice(tx, userId, device.id);
        const changes = changesBetween(auditedMembers, device, removedDevice);
        const data = { device_id: device.id, cause: 'max_devices' };
        await recordEvent(tx, { userId, type: 'device.removed', origin, data, changes });
      }
    });
  return {
    max,
    removeOldest: (login) => remove(login, { max, onlyUnused: false }).catch(onUnfinished),
    removeUnused: (login) => remove(login, { max: max + unusedReserve, onlyUnused: true }).catch(onUnfinished),
  };
}
