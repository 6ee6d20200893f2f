import { Type } from 'typebox';
import { RemovedDevice } from '../../../../contract/device.js';
import type { Devices } from '../../../../devices/devices.js';
import type { Users } from '../../../../users/users.js';
import { pathId } from '../../../requests/parameters.js';
import { type App, callerOf, originOf, requireRightToChange } from '../../../requests/route.js';

const Params = Type.Object({ id: Type.String(), device_id: Type.String({ description: 'The id of the device.' }) });

/** A route that removes a device of a user. */
export function adminUserDeviceRoutes(app: App, { devices, users }: { devices: Devices; users: Users }): void {
  app.route({
    method: 'DELETE',
    url: '/admin/v1/users/:id/devices/:device_id',
    schema: {
      operationId: 'deleteUserDevice',
      summary: "Remove one of a user's devices",
      description:
        'The same as when the user removes it: ends its tokens, sessions, streams and push, and open logins on it.',
      params: Params,
      response: { 200: { ...RemovedDevice, description: 'The device was removed.' } },
    },
    config: { access: { scope: 'users:write' }, recentProof: 'not-needed', problems: ['not_found'] },
    async handler(request) {
      const id = pathId({ id: request.params.device_id });
      const userId = pathId(request.params);
      requireRightToChange(callerOf(request), await users.get(userId));
      await devices.remove(userId, id, originOf(request));
      return { id };
    },
  });
}
