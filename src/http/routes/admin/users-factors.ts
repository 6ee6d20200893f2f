import type { Users } from '../../../authentication/users/users.js';
import { User } from '../../../contract/user.js';
import type { Database } from '../../../database/database.js';
import { IdParams, pathId } from '../../path-id.js';
import { type App, callerOf, demandFreshness, demandScope, originOf } from '../../route.js';

/** For users who have lost what they prove beside their first secret. */
export function adminUserFactorRoutes(
  app: App,
  { users, database }: { users: Users; database: Pick<Database, 'lane'> },
): void {
  app.route({
    method: 'DELETE',
    url: '/admin/v1/users/:id/second-factors',
    schema: {
      operationId: 'deleteUserSecondFactors',
      summary: "Remove a user's second factors",
      description:
        'The authenticator app, every passkey and the recovery codes. Logins go on; log the user out beside where the factors are in wrong hands. Of users who have a role, with the scope admin.',
      tags: ['Administration'],
      params: IdParams,
      response: { 200: { ...User, description: 'The user as it is now.' } },
    },
    config: { access: { scope: 'users:write' }, problems: ['not_found', 'fresh_proof_required'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      demandFreshness(callerOf(request));
      const changed = await database.lane(id).transaction(async (tx) => {
        const user = await users.removeSecondFactors(tx, id, originOf(request));
        // Whoever may take an operator's second factor away is half way to being one; thrown here, nothing has changed.
        if (user.role !== 'user') demandScope(callerOf(request), 'admin');
        return user;
      });
      return reply.send(changed);
    },
  });
}
