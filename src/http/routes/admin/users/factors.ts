import { User } from '../../../../contract/user.js';
import type { Database } from '../../../../database/database.js';
import type { Users } from '../../../../users/users.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import { type App, callerOf, originOf, requireRightToSee, requireScope } from '../../../requests/route.js';

/** A route for users who have lost their second factors. */
export function adminUserFactorRoutes(
  app: App,
  { users, database }: { users: Users; database: Pick<Database, 'user'> },
): void {
  app.route({
    method: 'DELETE',
    url: '/admin/v1/users/:id/second-factors',
    schema: {
      operationId: 'deleteUserSecondFactors',
      summary: "Remove a user's second factors",
      description:
        'Removes the authenticator app, all passkeys and the recovery codes. Existing logins keep working. If a factor was stolen, also log the user out. For users with a role, this needs the scope admin.',
      params: IdParams,
      response: { 200: { ...User, description: 'The changed user.' } },
    },
    config: { access: { scope: 'users:write' }, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      const changedUser = await database.user(id).transaction(async (tx) => {
        const before = await users.getForUpdate(tx, id);
        const user = await users.removeSecondFactors(tx, id, originOf(request));
        requireRightToSee(callerOf(request), before, user);
        // Removing an operator's second factor makes it easier to take over the account. If the caller may not, the
        // transaction rolls back.
        if (user.role !== 'user') requireScope(callerOf(request), 'admin');
        return user;
      });
      return reply.send(changedUser);
    },
  });
}
