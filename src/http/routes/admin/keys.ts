import { Type } from 'typebox';
import { type ApiKeys, keyFilterFields } from '../../../authentication/api-keys.js';
import { ApiKey, IssuedApiKey, NewApiKey } from '../../../contract/administration.js';
import { ListQuery } from '../../../contract/common.js';
import type { Database } from '../../../database/database.js';
import { readListQuery, sendPage } from '../../admin-list.js';
import type { Idempotent } from '../../idempotent.js';
import type { QueryParameters } from '../../list-query.js';
import { IdParams, pathId } from '../../path-id.js';
import { type App, callerOf, demandFreshness, originOf } from '../../route.js';

const sortable = ['created_at'] as const;
const readQuery = (query: QueryParameters) => readListQuery(query, sortable, keyFilterFields);

/** The API keys. Whoever may make keys could make one with any scope: hence `admin`. */
export function adminKeyRoutes(
  app: App,
  services: { apiKeys: ApiKeys; idempotent: Idempotent; database: Pick<Database, 'transaction'> },
): void {
  const { apiKeys, idempotent, database } = services;
  app.route({
    method: 'POST',
    url: '/admin/v1/keys',
    schema: {
      operationId: 'createKey',
      summary: 'Create an API key',
      description: 'The key itself is shown this once.',
      tags: ['Administration'],
      body: NewApiKey,
      response: { 201: { ...IssuedApiKey, description: 'The new key, with its token.' } },
    },
    config: { access: { scope: 'admin' }, idempotent: true, problems: ['fresh_proof_required'] },
    async handler(request, reply) {
      demandFreshness(callerOf(request));
      return idempotent(request, reply, (commit) =>
        commit(async (tx) => ({ status: 201, body: await apiKeys.create(tx, request.body, originOf(request)) })),
      );
    },
  });

  app.route({
    method: 'GET',
    url: '/admin/v1/keys',
    schema: {
      operationId: 'listKeys',
      summary: 'List API keys',
      description: 'Those that were not revoked, without their tokens.',
      tags: ['Administration'],
      querystring: ListQuery(sortable, 'name:like:billing'),
      response: { 200: Type.Array(ApiKey, { description: 'Newest first unless sorted otherwise.' }) },
    },
    config: { access: { scope: 'admin' }, checkQuery: readQuery },
    async handler(request, reply) {
      const query = readQuery(request.query);
      return sendPage(reply, '/admin/v1/keys', query, await apiKeys.list(query));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/keys/:id',
    schema: {
      operationId: 'revokeKey',
      summary: 'Revoke an API key',
      description: 'It is refused from the next request on, everywhere.',
      tags: ['Administration'],
      params: IdParams,
      response: { 204: Type.Null({ description: 'The key is revoked.' }) },
    },
    config: { access: { scope: 'admin' }, problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.transaction((tx) => apiKeys.revoke(tx, id, originOf(request)));
      return reply.code(204).send(null);
    },
  });
}
