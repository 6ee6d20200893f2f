import { Type } from 'typebox';
import { ExternalIdentity, ExternalIdentityLink } from '../../../../contract/external-identity.js';
import type { ExternalIdentities } from '../../../../users/external-identities.js';
import type { Users } from '../../../../users/users.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import { type App, callerOf, originOf, requireRightToChange, requireScope } from '../../../requests/route.js';

const url = '/admin/v1/users/:id/external-identities';
const Params = Type.Object({
  id: Type.String(),
  external_identity_id: Type.String({ description: 'The id of the link.' }),
});

/** Routes for the accounts at OpenID providers with which a user can log in. */
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
      params: IdParams,
      response: { 200: Type.Array(ExternalIdentity, { description: 'Oldest first.' }) },
    },
    config: { access: { scope: 'users:read' }, problems: ['not_found'] },
    async handler(request) {
      const { id } = await users.get(pathId(request.params));
      return externalIdentities.selectLinks(id);
    },
  });

  app.route({
    method: 'PUT',
    url,
    schema: {
      operationId: 'linkUserExternalIdentity',
      summary: 'Link an account at an OpenID provider to a user',
      description:
        'From now on, the account of that subject logs in the user. A provider of any tenant (Microsoft) also needs the `tenant`. Linking again changes nothing. For users with a role, this needs the scope admin.',
      params: IdParams,
      body: ExternalIdentityLink,
      response: { 200: { ...ExternalIdentity, description: 'The link.' } },
    },
    config: {
      access: { scope: 'users:write' },
      recentProof: 'needed',
      problems: ['not_found', 'external_identity_taken'],
    },
    async handler(request) {
      const user = await users.get(pathId(request.params));
      requireRightToChange(callerOf(request), user);
      const before = await externalIdentities.selectLinks(user.id);
      const link = await externalIdentities.link(user.id, request.body, originOf(request));
      // Linking again only reads the link.
      if (before.some(({ id }) => id === link.id)) requireScope(callerOf(request), 'users:read');
      return link;
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:external_identity_id`,
    schema: {
      operationId: 'unlinkUserExternalIdentity',
      summary: 'Unlink an account at an OpenID provider from a user',
      description:
        'The account can no longer be used to log in. Existing logins keep working: log the user out to end them.',
      params: Params,
      response: { 204: Type.Null({ description: 'The link is deleted.' }) },
    },
    config: { access: { scope: 'users:write' }, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const user = await users.get(pathId(request.params));
      requireRightToChange(callerOf(request), user);
      const id = pathId({ id: request.params.external_identity_id });
      await externalIdentities.unlink(user.id, id, originOf(request));
      return reply.code(204).send(null);
    },
  });
}
