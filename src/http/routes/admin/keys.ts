import { Type } from 'typebox';
import { ApiKey, IssuedApiKey, NewApiKey } from '../../../contract/administration.js';
import type { Handle } from '../../../database/database.js';
import { type ApiKeys, keyFilterFields } from '../../../sessions/api-keys.js';
import { listRoutes } from '../../lists/list-routes.js';
import type { Idempotent } from '../../requests/idempotent.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, originOf } from '../../requests/route.js';

/** Routes for API keys. All need `admin`: a caller that can create keys can create one with any scope. */
export function adminKeyRoutes(
  app: App,
  services: { apiKeys: ApiKeys; idempotent: Idempotent; database: Handle },
): void {
  const { apiKeys, idempotent, database } = services;
  app.route({
    method: 'POST',
    url: '/admin/v1/keys',
    schema: {
      operationId: 'createKey',
      summary: 'Create an API key',
      description: 'Only this response shows the key itself.',
      body: NewApiKey,
      response: { 201: { ...IssuedApiKey, description: 'The new key, with its token.' } },
    },
    config: { access: { scope: 'admin' }, idempotent: true, recentProof: 'needed' },
    async handler(request, reply) {
      return idempotent(request, reply, (commit) =>
        commit(async (tx) => ({ status: 201, body: await apiKeys.create(tx, request.body, originOf(request)) })),
      );
    },
  });

  listRoutes(app, {
    url: '/admin/v1/keys',
    operationIds: ['listKeys', 'getKeyPage'],
    summary: 'List API keys',
    description: 'All keys that are not revoked, without their tokens.',
    access: { scope: 'admin' },
    item: ApiKey,
    pageTitle: 'ApiKeyPage',
    sortable: ['created_at'],
    filterFields: keyFilterFields,
    filterExample: 'name:like:billing',
    read: apiKeys.list,
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/keys/:id',
    schema: {
      operationId: 'revokeKey',
      summary: 'Revoke an API key',
      description: 'Every instance refuses the key from the next request on.',
      params: IdParams,
      response: { 204: Type.Null({ description: 'The key is revoked.' }) },
    },
    config: { access: { scope: 'admin' }, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.transaction((tx) => apiKeys.revoke(tx, id, originOf(request)));
      return reply.code(204).send(null);
    },
  });
}
