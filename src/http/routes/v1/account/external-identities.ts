import { Type } from 'typebox';
import type { OwnExternalIdentities } from '../../../../account/own-external-identities.js';
import { GuestOrProvenRequest, ProvenRequest } from '../../../../contract/account/proof.js';
import { ExternalIdentity, IdTokenAnswer, StartedExternalIdentity } from '../../../../contract/external-identity.js';
import { parseId } from '../../../../lib/ids.js';
import { pathId } from '../../../requests/parameters.js';
import { callingSessionOf, freshProof, proofProblems } from '../../../requests/proven-request.js';
import { type App, sessionOf } from '../../../requests/route.js';

const url = '/v1/account/external-identities';
const name = Type.String({ description: 'The name of the provider, such as google.' });
const NamedParams = Type.Object({
  name,
  id: Type.String({ description: 'The id of the started link, or of the link.' }),
});

/** Routes for a user's own accounts at OpenID providers. */
export function accountExternalIdentityRoutes(
  app: App,
  { ownExternalIdentities: identities }: { ownExternalIdentities: OwnExternalIdentities },
): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listExternalIdentities',
      summary: 'List your linked accounts at OpenID providers',
      tags: ['Account'],
      response: { 200: Type.Array(ExternalIdentity, { description: 'Oldest first.' }) },
    },
    config: { access: 'session' },
    async handler(request) {
      return identities.list(sessionOf(request).user_id);
    },
  });

  app.route({
    method: 'POST',
    url: `${url}/:name`,
    schema: {
      operationId: 'startExternalIdentity',
      summary: 'Start to link an account at an OpenID provider',
      description: `Returns a nonce for the id_token that completes the link. Needs ${freshProof}`,
      tags: ['Account'],
      params: Type.Object({ name }),
      body: GuestOrProvenRequest,
      response: { 201: { ...StartedExternalIdentity, description: 'Send the id_token next.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found'] },
    async handler(request, reply) {
      const challenge = await identities.begin(callingSessionOf(request), request.params.name, request.body.proof);
      return reply.code(201).send(challenge);
    },
  });

  app.route({
    method: 'POST',
    url: `${url}/:name/:id`,
    schema: {
      operationId: 'confirmExternalIdentity',
      summary: 'Complete a link to an account at an OpenID provider',
      description:
        'From now on, an id_token of that account logs in this user. If the account is linked to another user, this request returns 409. The request that starts the link does not reveal this.',
      tags: ['Account'],
      params: NamedParams,
      body: IdTokenAnswer,
      response: { 200: { ...ExternalIdentity, description: 'The link.' } },
    },
    config: {
      access: 'session',
      problems: [
        'not_found',
        'external_identity_rejected',
        'external_identity_taken',
        'too_many_requests',
        'authenticator_unavailable',
      ],
    },
    async handler(request) {
      const { name, id } = request.params;
      return identities.confirm(callingSessionOf(request), name, parseId(id), request.body.secret);
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:name/:id`,
    schema: {
      operationId: 'deleteExternalIdentity',
      summary: 'Unlink an account at an OpenID provider',
      description: `Refused if it is the only way to log in. Needs ${freshProof}`,
      tags: ['Account'],
      params: NamedParams,
      body: ProvenRequest,
      response: { 204: Type.Null({ description: 'The link is deleted.' }) },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found', 'last_way_in'] },
    async handler(request, reply) {
      await identities.remove(
        callingSessionOf(request),
        request.params.name,
        pathId(request.params),
        request.body.proof,
      );
      return reply.code(204).send(null);
    },
  });
}
