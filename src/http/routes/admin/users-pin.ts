import type { PinRecoveries } from '../../../authentication/self-service/pin-recoveries.js';
import type { Users } from '../../../authentication/users/users.js';
import { User } from '../../../contract/user.js';
import type { Database } from '../../../database/database.js';
import { IdParams, pathId } from '../../path-id.js';
import { type App, callerOf, demandReach, originOf } from '../../route.js';

/** What operators do about a recovery of a user's PIN that waits. */
export function adminUserPinRoutes(
  app: App,
  services: {
    readonly users: Users;
    readonly pinRecoveries: Pick<PinRecoveries, 'cancel'>;
    readonly database: Pick<Database, 'lane'>;
  },
): void {
  const { users, pinRecoveries, database } = services;
  app.route({
    method: 'DELETE',
    url: '/admin/v1/users/:id/pin-recovery',
    schema: {
      operationId: 'cancelUserPinRecovery',
      summary: "Cancel a recovery of a user's PIN",
      description: 'A PIN that a code has set and that waits (pin_recovery of the user) is dropped.',
      tags: ['Administration'],
      params: IdParams,
      response: { 200: { ...User, description: 'The user as it is now.' } },
    },
    config: { access: { scope: 'users:write' }, problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      const user = await database.lane(id).transaction(async (tx) => {
        demandReach(callerOf(request), await users.hold(tx, id));
        await pinRecoveries.cancel(tx, id, originOf(request));
        return users.hold(tx, id);
      });
      return reply.send(user);
    },
  });
}
