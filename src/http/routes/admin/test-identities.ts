import { Type } from 'typebox';
import { IssuedTestIdentity, NewTestIdentity, TestIdentity } from '../../../contract/users/test-identity.js';
import { type TestIdentities, testIdentityFilterFields } from '../../../credentials/test-identities/test-identities.js';
import type { Handle } from '../../../database/database.js';
import { listRoutes } from '../../lists/list-routes.js';
import type { Idempotent } from '../../requests/idempotent.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, originOf } from '../../requests/route.js';

/**
 * Routes for test identities. Changes need `admin`: a caller that can fix the code of an address can log in as the user of
 * the address.
 */
export function adminTestIdentityRoutes(
  app: App,
  services: { testIdentities: TestIdentities; idempotent: Idempotent; database: Handle },
): void {
  const { testIdentities, idempotent, database } = services;
  app.route({
    method: 'POST',
    url: '/admin/v1/test-identities',
    schema: {
      operationId: 'createTestIdentity',
      summary: 'Create a test identity',
      description:
        'Logins and proofs with a code to the address accept the fixed code, and no message is sent, until `expires_at`. Only this response shows the code.',
      body: NewTestIdentity,
      response: { 201: { ...IssuedTestIdentity, description: 'The test identity, with its code.' } },
    },
    config: {
      access: { scope: 'admin' },
      idempotent: true,
      recentProof: 'needed',
      problems: ['test_identity_exists'],
    },
    async handler(request, reply) {
      return idempotent(request, reply, (commit) =>
        commit(async (tx) => ({ status: 201, body: await testIdentities.create(tx, request.body, originOf(request)) })),
      );
    },
  });

  listRoutes(app, {
    url: '/admin/v1/test-identities',
    operationIds: ['listTestIdentities', 'getTestIdentityPage'],
    summary: 'List test identities',
    description: 'The list does not show the codes. Test identities that have ended stay in the list for 30 days.',
    access: { scope: 'users:read' },
    item: TestIdentity,
    pageTitle: 'TestIdentityPage',
    sortable: ['created_at', 'expires_at'],
    filterFields: testIdentityFilterFields,
    filterExample: 'expires_at:gt:2030-01-01T00:00:00Z',
    read: testIdentities.list,
  });

  app.route({
    method: 'GET',
    url: '/admin/v1/test-identities/:id',
    schema: {
      operationId: 'getTestIdentity',
      summary: 'Get a test identity',
      params: IdParams,
      response: { 200: { ...TestIdentity, description: 'The test identity.' } },
    },
    config: { access: { scope: 'users:read' }, problems: ['not_found'] },
    async handler(request, reply) {
      return reply.send(await testIdentities.get(pathId(request.params)));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/test-identities/:id',
    schema: {
      operationId: 'deleteTestIdentity',
      summary: 'Delete a test identity',
      description: 'The fixed code is refused from the next request on. Logins that it approved continue.',
      params: IdParams,
      response: { 204: Type.Null({ description: 'The test identity is deleted.' }) },
    },
    config: { access: { scope: 'admin' }, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.transaction((tx) => testIdentities.remove(tx, id, originOf(request)));
      return reply.code(204).send(null);
    },
  });
}
