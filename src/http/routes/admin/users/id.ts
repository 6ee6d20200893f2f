import { Type } from 'typebox';
import { User, UserChange } from '../../../../contract/user.js';
import type { Database } from '../../../../database/database.js';
import type { Users } from '../../../../users/users.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import {
  type App,
  callerOf,
  memberOf,
  originOf,
  requireRightToChange,
  requireRightToSee,
  requireScope,
  secretsFrom,
} from '../../../requests/route.js';

/**
 * Members whose change decides who can log in to the account, and how, and what the user may do. Login codes go to `email` and
 * `phone`.
 */
const accessMembers = [
  ...(['role', 'roles', 'claims', 'password', 'pin', 'second_factor', 'username', 'email', 'phone', 'status'] as const),
];

/** Routes that read, change and delete a user. */
export function adminUserRoutes(
  app: App,
  { users, database }: { users: Users; database: Pick<Database, 'user'> },
): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/users/:id',
    schema: {
      operationId: 'getUser',
      summary: 'Get a user',
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
        'Changes only the members that are present; null removes a value. `roles` replaces all roles of your app, or adds and removes some; `claims` replaces all claims. Changes of `role`, and of users whose role is not user, need the scope admin. A change of the password and deactivation end every login of the user from the next request on. With a session, a password is for one use, as if the request said must_change, and only the user chooses a PIN.',
      params: IdParams,
      body: UserChange,
      response: { 200: { ...User, description: 'The changed user.' } },
    },
    config: {
      access: { scope: 'users:write' },
      recentProof: {
        when: `it contains ${accessMembers.join(', ')}`,
        applies: (request) => accessMembers.some((member) => memberOf(request, member) !== undefined),
      },
      problems: ['not_found', 'identity_taken'],
    },
    async handler(request, reply) {
      const id = pathId(request.params);
      const prepared = await users.prepareChange(id, request.body, secretsFrom(callerOf(request)));
      const changedUser = await database.user(id).transaction(async (tx) => {
        const before = await users.getForUpdate(tx, id);
        const user = await users.change(tx, id, prepared, originOf(request));
        // A user does not show whether a new secret is the old one.
        const { password, pin } = request.body;
        if (typeof password !== 'string' && typeof pin !== 'string') requireRightToSee(callerOf(request), before, user);
        // A caller that can change an operator's account can log in as that operator. If the caller may not, the
        // transaction rolls back.
        if (request.body.role !== undefined) requireScope(callerOf(request), 'admin');
        requireRightToChange(callerOf(request), user);
        return user;
      });
      return reply.send(changedUser);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/users/:id',
    schema: {
      operationId: 'deleteUser',
      summary: 'Delete a user',
      description:
        'Deletes the user and every login at once, and devices, messages and notifications within moments. Events are kept. They contain only the id of the user.',
      params: IdParams,
      response: { 204: Type.Null({ description: 'The user is deleted.' }) },
    },
    config: { access: { scope: 'users:write' }, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.user(id).transaction(async (tx) => {
        requireRightToChange(callerOf(request), await users.getForUpdate(tx, id));
        await users.remove(tx, id, originOf(request));
      });
      return reply.code(204).send(null);
    },
  });
}
