import type { PinRecoveries } from '../../../../account/pin-recoveries.js';
import { User } from '../../../../contract/user.js';
import type { Database } from '../../../../database/database.js';
import type { Users } from '../../../../users/users.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import { type App, callerOf, originOf, requireRightToChange, requireRightToSee } from '../../../requests/route.js';

/** A route that cancels a pending recovery of a user's PIN. */
export function adminUserPinRoutes(
  app: App,
  services: {
    readonly users: Users;
    readonly pinRecoveries: Pick<PinRecoveries, 'cancel'>;
    readonly database: Pick<Database, 'user'>;
  },
): void {
  const { users, pinRecoveries, database } = services;
  app.route({
    method: 'DELETE',
    url: '/admin/v1/users/:id/pin-recovery',
    schema: {
      operationId: 'cancelUserPinRecovery',
      summary: "Cancel a recovery of a user's PIN",
      description:
        'Cancels a recovery of the PIN that has not taken effect yet (pin_recovery of the user). The current PIN stays valid.',
      params: IdParams,
      response: { 200: { ...User, description: 'The user without a pending PIN.' } },
    },
    config: { access: { scope: 'users:write' }, recentProof: 'not-needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      const user = await database.user(id).transaction(async (tx) => {
        const before = await users.getForUpdate(tx, id);
        requireRightToChange(callerOf(request), before);
        await pinRecoveries.cancel(tx, id, originOf(request));
        const after = await users.getForUpdate(tx, id);
        requireRightToSee(callerOf(request), before, after);
        return after;
      });
      return reply.send(user);
    },
  });
}
