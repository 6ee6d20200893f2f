import { Type } from 'typebox';
import type { Devices } from '../../../authentication/devices/devices.js';
import type { Users } from '../../../authentication/users/users.js';
import { RemovedDevice } from '../../../contract/device.js';
import { pathId } from '../../path-id.js';
import { type App, callerOf, demandReach, originOf } from '../../route.js';

const Params = Type.Object({ id: Type.String(), device_id: Type.String({ description: 'The id of the device.' }) });

/** Logging a user out on one device. */
export function adminUserDeviceRoutes(app: App, { devices, users }: { devices: Devices; users: Users }): void {
  app.route({
    method: 'DELETE',
    url: '/admin/v1/users/:id/devices/:device_id',
    schema: {
      operationId: 'deleteUserDevice',
      summary: "Remove one of a user's devices",
      description:
        'As the user may do it: ends its tokens, sessions, streams and push, and the logins under way on it.',
      tags: ['Administration'],
      params: Params,
      response: { 200: { ...RemovedDevice, description: 'The device was removed.' } },
    },
    config: { access: { scope: 'users:write' }, problems: ['not_found'] },
    async handler(request) {
      const id = pathId({ id: request.params.device_id });
      const userId = pathId(request.params);
      demandReach(callerOf(request), await users.get(userId));
      await devices.remove(userId, id, originOf(request));
      return { id };
    },
  });
}
