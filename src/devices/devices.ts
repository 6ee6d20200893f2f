import { changesBetween } from '../audit/changes.js';
import { recordEvent } from '../audit/events.js';
import type { UserDevice } from '../contract/administration.js';
import type { DeviceDescription } from '../contract/device.js';
import type { Database } from '../database/database.js';
import { type ListRequest, type ListSource, type Page, readPage } from '../database/listing.js';
import { bound, sql } from '../database/sql.js';
import type { FilterFields } from '../lib/filter/fields.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import type { RequestLimits } from '../limits/request-limits.js';
import {
  deleteDevice,
  deviceColumns,
  endDeviceLogins,
  findDevice,
  findDeviceForUpdate,
  updateDescription,
} from './queries.js';

/** The devices on which logins of a user were approved, for the user and for support. They never show push tokens. */
export interface Devices {
  list(userId: string, request: ListRequest): Promise<Page<UserDevice>>;
  /** @throws Problem `not_found`, also for a device of another user */
  get(userId: string, id: string): Promise<UserDevice>;
  /** Replaces the whole description and keeps the push tokens. @throws Problem `not_found`, `too_many_requests` */
  describe(userId: string, id: string, description: DeviceDescription, origin: Origin): Promise<UserDevice>;
  /**
   * Deletes a device with its push tokens and ends every login on it: approved ones with their sessions, and open ones.
   * A later login on the device creates it again.
   * @throws Problem `not_found`
   */
  remove(userId: string, id: string, origin: Origin): Promise<void>;
}

/** The filter fields of lists of devices. */
export const deviceFilterFields: FilterFields = {
  id: { kind: 'id' },
  make: { kind: 'string', like: true },
  model: { kind: 'string', like: true },
  os_name: { kind: 'string', like: true },
  os_version: { kind: 'string', like: true },
  last_login_at: { kind: 'time' },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};

const devicesOf = (userId: string): ListSource => ({
  columns: deviceColumns,
  from: sql`devices`,
  where: sql`user_id = ${bound(userId)}::uuid`,
});

/** The members of a device whose changes audit events show. The screen and the push tokens are left out. */
export const auditedMembers = ['make', 'model', 'os_name', 'os_version', 'sdk_version'] as const;
/** What a device becomes when it is removed, for audit events. */
export const removedDevice = { make: null, model: null, os_name: null, os_version: null, sdk_version: null };

/** Creates the list, the description and the removal of devices. */
export function createDevices(database: Database, limits: Pick<RequestLimits, 'countOwnChange'>): Devices {
  return {
    list: (userId, request) => readPage<UserDevice>(database.user(userId), devicesOf(userId), request),
    get: (userId, id) => requireDevice(findDevice(database.user(userId), userId, id)),
    async describe(userId, id, description, origin) {
      await limits.countOwnChange(userId);
      return database.user(userId).transaction(async (tx) => {
        const before = await requireDevice(findDeviceForUpdate(tx, userId, id));
        const isChanged = await updateDescription(tx, userId, id, description);
        const after = await requireDevice(findDevice(tx, userId, id));
        if (isChanged) {
          const changes = changesBetween(auditedMembers, before, after);
          await recordEvent(tx, { userId, type: 'device.changed', origin, data: { device_id: id }, changes });
        }
        return after;
      });
    },
    remove: (userId, id, origin) =>
      database.user(userId).transaction(async (tx) => {
        const before = await requireDevice(findDeviceForUpdate(tx, userId, id));
        await endDeviceLogins(tx, userId, id, { endsPageLogins: true });
        await deleteDevice(tx, userId, id);
        const changes = changesBetween(auditedMembers, before, removedDevice);
        await recordEvent(tx, { userId, type: 'device.removed', origin, data: { device_id: id }, changes });
      }),
  };
}

/** The device that a search found. @throws Problem `not_found` */
async function requireDevice(search: Promise<UserDevice | undefined>): Promise<UserDevice> {
  const device = await search;
  if (device === undefined) throw new Problem('not_found');
  return device;
}
