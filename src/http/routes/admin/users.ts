import { Type } from 'typebox';
import { userFilterFields } from '../../../authentication/users/search.js';
import type { Users } from '../../../authentication/users/users.js';
import { ListQuery } from '../../../contract/common.js';
import { NewUser, User } from '../../../contract/user.js';
import { readListQuery, sendPage } from '../../admin-list.js';
import type { Idempotent } from '../../idempotent.js';
import type { QueryParameters } from '../../list-query.js';
import { type App, callerOf, demandFreshness, demandScope, originOf } from '../../route.js';

const sortable = ['created_at', 'updated_at'] as const;
const readQuery = (query: QueryParameters) => readListQuery(query, sortable, userFilterFields);

/** Making and finding users. */
export function adminUsersRoutes(app: App, { users, idempotent }: { users: Users; idempotent: Idempotent }): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/users',
    schema: {
      operationId: 'createUser',
      summary: 'Create a user',
      description:
        'At least one of username, email and phone; password or password_hash, or neither. A password_hash with an algorithm or parameters that no other user has takes the scope admin.',
      tags: ['Administration'],
      body: NewUser,
      response: { 201: { ...User, description: 'The new user.' } },
    },
    config: {
      access: { scope: 'users:write' },
      idempotent: true,
      problems: ['identity_taken', 'fresh_proof_required'],
    },
    async handler(request, reply) {
      return idempotent(request, reply, async (commit) => {
        if (request.body.role !== undefined && request.body.role !== 'user') {
          demandScope(callerOf(request), 'admin');
          demandFreshness(callerOf(request));
        }
        const prepared = await users.prepare(request.body);
        const options = { mayAddScheme: callerOf(request).scopes.includes('admin') };
        return commit(async (tx) => ({
          status: 201,
          body: await users.create(tx, prepared, originOf(request), options),
        }));
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/admin/v1/users',
    schema: {
      operationId: 'listUsers',
      summary: 'List users',
      description: 'Totals are counted up to 1000.',
      tags: ['Administration'],
      querystring: ListQuery(sortable, 'email:like:example.com'),
      response: { 200: Type.Array(User, { description: 'Newest first unless sorted otherwise.' }) },
    },
    config: { access: { scope: 'users:read' }, checkQuery: readQuery },
    async handler(request, reply) {
      const query = readQuery(request.query);
      return sendPage(reply, '/admin/v1/users', query, await users.list(query));
    },
  });
}
