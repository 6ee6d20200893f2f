import { Type } from 'typebox';
import { Audience, AudienceChange, NewAudience, SavedAudience, SigningKey } from '../../../contract/access-token.js';
import type { Database } from '../../../database/database.js';
import { type Audiences, audienceFilterFields } from '../../../sessions/access-tokens/audiences.js';
import { listRoutes } from '../../lists/list-routes.js';
import type { Idempotent } from '../../requests/idempotent.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, originOf } from '../../requests/route.js';

interface AudienceServices {
  readonly audiences: Audiences;
  readonly database: Database;
  readonly idempotent: Idempotent;
}

const access = { scope: 'admin' } as const;

/** Routes for the services that get access tokens. */
export function adminAudienceRoutes(app: App, { audiences, database, idempotent }: AudienceServices): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/audiences',
    schema: {
      operationId: 'createAudience',
      summary: 'Create an audience',
      description: 'Lets users get access tokens for a service. Needs PUBLIC_URL, which is the issuer of the tokens.',
      body: NewAudience,
      response: { 201: { ...SavedAudience, description: 'The audience.' } },
    },
    config: { access, recentProof: 'needed', idempotent: true, problems: ['audience_exists'] },
    async handler(request, reply) {
      return idempotent(request, reply, (commit) =>
        commit(async (tx) => ({ status: 201, body: await audiences.create(tx, request.body, originOf(request)) })),
      );
    },
  });

  listRoutes(app, {
    url: '/admin/v1/audiences',
    operationIds: ['listAudiences', 'getAudiencePage'],
    summary: 'List audiences',
    description: 'There are at most 100.',
    access,
    item: Audience,
    pageTitle: 'AudiencePage',
    sortable: ['created_at'],
    filterFields: audienceFilterFields,
    filterExample: 'uri:eq:https\\://api.example.com',
    read: audiences.list,
  });

  app.route({
    method: 'GET',
    url: '/admin/v1/audiences/:id',
    schema: {
      operationId: 'getAudience',
      summary: 'Get an audience',
      params: IdParams,
      response: { 200: { ...Audience, description: 'The audience.' } },
    },
    config: { access, problems: ['not_found'] },
    async handler(request, reply) {
      return reply.send(await audiences.get(pathId(request.params)));
    },
  });

  app.route({
    method: 'PATCH',
    url: '/admin/v1/audiences/:id',
    schema: {
      operationId: 'changeAudience',
      summary: 'Change an audience',
      description: 'Changes only the members that are present. It takes effect for the next token.',
      params: IdParams,
      body: AudienceChange,
      response: { 200: { ...SavedAudience, description: 'The changed audience.' } },
    },
    config: { access, recentProof: 'needed', problems: ['not_found', 'audience_exists'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      return reply.send(await database.transaction((tx) => audiences.change(tx, id, request.body, originOf(request))));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/audiences/:id',
    schema: {
      operationId: 'deleteAudience',
      summary: 'Delete an audience',
      description: 'Nobody gets further tokens for it. Those that were issued stay valid until they expire.',
      params: IdParams,
      response: { 204: Type.Null({ description: 'The audience is deleted.' }) },
    },
    config: { access, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.transaction((tx) => audiences.remove(tx, id, originOf(request)));
      return reply.code(204).send(null);
    },
  });

  signingKeyRoute(app, audiences);
}

function signingKeyRoute(app: App, audiences: AudienceServices['audiences']): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/signing-keys',
    schema: {
      operationId: 'listSigningKeys',
      summary: 'List the keys that sign access tokens',
      description:
        'Those that sign, will sign, or have signed tokens that may still be valid. `postern signing-keys rotate` replaces them.',
      response: { 200: Type.Array(SigningKey, { description: 'The keys of each algorithm, in the order of use.' }) },
    },
    config: { access },
    async handler() {
      return audiences.signingKeys();
    },
  });
}
