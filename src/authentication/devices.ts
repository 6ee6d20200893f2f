import { prepared, type Queryable } from '../database/database.js';

const findDevice = prepared('device_known', 'select id from devices where user_id = $1 and id = $2');

/** The device's id when the user was approved on it before, else undefined. For a stand-in's id: never. */
export async function findKnownDevice(
  handle: Queryable,
  userId: string,
  deviceId: string,
): Promise<string | undefined> {
  const [device] = await handle.query<{ id: string }>(findDevice, [userId, deviceId]);
  return device?.id;
}
