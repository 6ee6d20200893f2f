import { NewUser, User } from '../../../../contract/user.js';
import { userFilterFields } from '../../../../users/search/fields.js';
import { readSearch } from '../../../../users/search/text.js';
import type { Users } from '../../../../users/users.js';
import { findRoute, type ListRoute, listRoutes } from '../../../lists/list-routes.js';
import type { Idempotent } from '../../../requests/idempotent.js';
import { type App, callerOf, memberOf, originOf, requireScope, secretsFrom } from '../../../requests/route.js';

/** Routes that create and list users. */
export function adminUsersRoutes(app: App, { users, idempotent }: { users: Users; idempotent: Idempotent }): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/users',
    schema: {
      operationId: 'createUser',
      summary: 'Create a user',
      description:
        'Needs at least one of username, email and phone. Takes password or password_hash, or neither. A password_hash with an algorithm or parameters that no other user has needs the scope admin. With a session, a password is for one use, as if the request said must_change, and only the user chooses a PIN.',
      body: NewUser,
      response: { 201: { ...User, description: 'The new user.' } },
    },
    config: {
      access: { scope: 'users:write' },
      idempotent: true,
      recentProof: {
        when: 'it gives a role or claims',
        applies: (request) =>
          (memberOf(request, 'role') ?? 'user') !== 'user' ||
          memberOf(request, 'roles') !== undefined ||
          memberOf(request, 'claims') !== undefined,
      },
      problems: ['identity_taken'],
    },
    async handler(request, reply) {
      return idempotent(request, reply, async (commit) => {
        if (request.body.role !== undefined && request.body.role !== 'user') requireScope(callerOf(request), 'admin');
        const prepared = await users.prepare(request.body, undefined, secretsFrom(callerOf(request)));
        const options = { mayAddScheme: callerOf(request).scopes.includes('admin') };
        return commit(async (tx) => ({
          status: 201,
          body: await users.create(tx, prepared, originOf(request), options),
        }));
      });
    },
  });

  const list: ListRoute = {
    url: '/admin/v1/users',
    operationIds: ['listUsers', 'getUserPage'],
    summary: 'List users',
    description:
      'Totals are counted up to 1000. A search or filter that takes too long answers with a part of the users, and the header X-Partial says why.',
    access: { scope: 'users:read' },
    item: User,
    pageTitle: 'UserPage',
    sortable: ['created_at', 'updated_at'],
    filterFields: userFilterFields,
    filterExample: 'email:like:example.com',
    search: {
      description:
        'A part of a name, user name, mail address or phone number, in upper or lower case. Or the id of a user or of a device, or a whole external_id, or the subject or mail address of a linked account at a provider. A full mail address or phone number that a user has finds this user alone. At most 320 characters.',
      read: readSearch,
    },
    read: users.list,
  };
  listRoutes(app, list);
  findRoute(app, list, 'findUsers');
}
