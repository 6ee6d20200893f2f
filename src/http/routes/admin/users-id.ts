import { Type } from 'typebox';
import type { Users } from '../../../authentication/users/users.js';
import { User, UserChange } from '../../../contract/user.js';
import type { Database } from '../../../database/database.js';
import { IdParams, pathId } from '../../path-id.js';
import { type App, callerOf, demandFreshness, demandReach, demandScope, originOf } from '../../route.js';

/** What gives an account or its role to somebody else. A code to a mail address or a phone lets its owner in. */
const openings = ['role', 'password', 'pin', 'second_factor', 'email', 'phone'] as const;

/** One user: reading, changing, deleting. */
export function adminUserRoutes(
  app: App,
  { users, database }: { users: Users; database: Pick<Database, 'lane'> },
): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/users/:id',
    schema: {
      operationId: 'getUser',
      summary: 'Read a user',
      tags: ['Administration'],
      params: IdParams,
      response: { 200: { ...User, description: 'The user.' } },
    },
    config: { access: { scope: 'users:read' }, problems: ['not_found'] },
    async handler(request, reply) {
      return reply.send(await users.get(pathId(request.params)));
    },
  });

  app.route({
    method: 'PATCH',
    url: '/admin/v1/users/:id',
    schema: {
      operationId: 'changeUser',
      summary: 'Change a user',
      description:
        'Only the members that are present change; null removes. Roles, and users who have one, are changed with the scope admin. A change of the password and deactivation end every login of the user, on the next request everywhere.',
      tags: ['Administration'],
      params: IdParams,
      body: UserChange,
      response: { 200: { ...User, description: 'The user as it is now.' } },
    },
    config: { access: { scope: 'users:write' }, problems: ['not_found', 'identity_taken', 'fresh_proof_required'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      const opens = openings.some((member) => request.body[member] !== undefined) || request.body.status === 'active';
      if (opens) demandFreshness(callerOf(request));
      const prepared = await users.prepareChange(id, request.body);
      const changed = await database.lane(id).transaction(async (tx) => {
        const user = await users.change(tx, id, prepared, originOf(request));
        // Whoever may change an operator can become one; thrown here, nothing has changed.
        if (request.body.role !== undefined) demandScope(callerOf(request), 'admin');
        demandReach(callerOf(request), user);
        return user;
      });
      return reply.send(changed);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/users/:id',
    schema: {
      operationId: 'deleteUser',
      summary: 'Delete a user',
      description:
        'The user and every login are gone at once; devices, messages and notifications follow within moments. Events stay, and name the user by id alone.',
      tags: ['Administration'],
      params: IdParams,
      response: { 204: Type.Null({ description: 'The user is gone.' }) },
    },
    config: { access: { scope: 'users:write' }, problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.lane(id).transaction(async (tx) => {
        demandReach(callerOf(request), await users.hold(tx, id));
        await users.remove(tx, id, originOf(request));
      });
      return reply.code(204).send(null);
    },
  });
}
