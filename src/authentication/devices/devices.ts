import type { UserDevice } from '../../contract/administration.js';
import type { DeviceDescription } from '../../contract/device.js';
import type { Database } from '../../database/database.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import type { Origin } from '../../lib/origin.js';
import { Problem } from '../../lib/problem.js';
import { recordEvent } from '../events/events.js';
import { type ListRequest, type Page, readPage } from '../listing.js';
import { deviceColumns, endDeviceLogins, findDevice, forgetDevice, holdDevice, writeDescription } from './queries.js';

/** The devices on which a user's logins were approved, as the user and support see them. Never their push tokens. */
export interface Devices {
  list(userId: string, request: ListRequest): Promise<Page<UserDevice>>;
  /** @throws Problem `not_found`, for another user's device too. */
  get(userId: string, id: string): Promise<UserDevice>;
  /** Replaces the whole description; push tokens stay. @throws Problem `not_found` */
  describe(userId: string, id: string, description: DeviceDescription, origin: Origin): Promise<UserDevice>;
  /**
   * Forgets a device with its push tokens, and ends every login on it: approved ones with their sessions, and those that
   * are still under way. A login that begins afterwards makes it known again.
   * @throws Problem `not_found`
   */
  remove(userId: string, id: string, origin: Origin): Promise<void>;
}

/** What devices can be listed by. */
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

const devicesOfUser = { columns: deviceColumns, from: 'devices', where: 'user_id = $1' };

export function createDevices(database: Database): Devices {
  return {
    list: (userId, request) => readPage<UserDevice>(database, { ...devicesOfUser, values: [userId] }, request),
    get: (userId, id) => found(findDevice(database, userId, id)),
    describe: (userId, id, description, origin) =>
      database.lane(userId).transaction(async (tx) => {
        await found(holdDevice(tx, userId, id));
        if (await writeDescription(tx, userId, id, description)) {
          await recordEvent(tx, { userId, type: 'device.changed', origin, data: { device_id: id } });
        }
        return found(findDevice(tx, userId, id));
      }),
    remove: (userId, id, origin) =>
      database.lane(userId).transaction(async (tx) => {
        await found(holdDevice(tx, userId, id));
        await endDeviceLogins(tx, userId, id);
        await forgetDevice(tx, userId, id);
        await recordEvent(tx, { userId, type: 'device.removed', origin, data: { device_id: id } });
      }),
  };
}

async function found(looking: Promise<UserDevice | undefined>): Promise<UserDevice> {
  const device = await looking;
  if (device === undefined) throw new Problem('not_found');
  return device;
}
