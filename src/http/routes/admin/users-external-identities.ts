import { Type } from 'typebox';
import type { ExternalIdentities } from '../../../authentication/identities/external-identities.js';
import type { Users } from '../../../authentication/users/users.js';
import { ExternalIdentity, ExternalIdentityLink } from '../../../contract/external-identity.js';
import { IdParams, pathId } from '../../path-id.js';
import { type App, callerOf, demandFreshness, demandReach, originOf } from '../../route.js';

const url = '/admin/v1/users/:id/external-identities';
const Params = Type.Object({
  id: Type.String(),
  external_identity_id: Type.String({ description: 'The id of the link.' }),
});

/** The accounts at OpenID providers that let a user in. */
export function adminExternalIdentityRoutes(
  app: App,
  { users, externalIdentities }: { users: Users; externalIdentities: ExternalIdentities },
): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listUserExternalIdentities',
      summary: "List a user's accounts at OpenID providers",
      tags: ['Administration'],
      params: IdParams,
      response: { 200: Type.Array(ExternalIdentity, { description: 'Oldest first.' }) },
    },
    config: { access: { scope: 'users:read' }, problems: ['not_found'] },
    async handler(request) {
      const { id } = await users.get(pathId(request.params));
      return externalIdentities.list(id);
    },
  });

  app.route({
    method: 'PUT',
    url,
    schema: {
      operationId: 'linkUserExternalIdentity',
      summary: 'Link an account at an OpenID provider to a user',
      description:
        'From now on an id_token of that subject lets the user in. Linking again changes nothing. For users with a role with the scope admin.',
      tags: ['Administration'],
      params: IdParams,
      body: ExternalIdentityLink,
      response: { 200: { ...ExternalIdentity, description: 'The link.' } },
    },
    config: {
      access: { scope: 'users:write' },
      problems: ['not_found', 'external_identity_taken', 'fresh_proof_required'],
    },
    async handler(request) {
      const user = await users.get(pathId(request.params));
      demandReach(callerOf(request), user);
      demandFreshness(callerOf(request));
      return externalIdentities.link(user.id, request.body, originOf(request));
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:external_identity_id`,
    schema: {
      operationId: 'unlinkUserExternalIdentity',
      summary: 'Unlink an account at an OpenID provider from a user',
      description: 'Nobody logs in with it any more. Logins that were approved stay: log the user out to end them.',
      tags: ['Administration'],
      params: Params,
      response: { 204: Type.Null({ description: 'The link is gone.' }) },
    },
    config: { access: { scope: 'users:write' }, problems: ['not_found'] },
    async handler(request, reply) {
      const user = await users.get(pathId(request.params));
      demandReach(callerOf(request), user);
      const id = pathId({ id: request.params.external_identity_id });
      await externalIdentities.unlink(user.id, id, originOf(request));
      return reply.code(204).send(null);
    },
  });
}
