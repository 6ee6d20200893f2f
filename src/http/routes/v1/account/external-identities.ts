import { Type } from 'typebox';
import type { OwnExternalIdentities } from '../../../../account/own-external-identities.js';
import { ExternalIdentityRequest } from '../../../../contract/account/external-identity-request.js';
import { ProvenRequest } from '../../../../contract/account/proof.js';
import {
  ExternalIdentity,
  ExternalIdentityAnswer,
  StartedExternalIdentity,
} from '../../../../contract/external-identity.js';
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

/** Routes for a user's own accounts at providers. */
export function accountExternalIdentityRoutes(
  app: App,
  { ownExternalIdentities: identities }: { ownExternalIdentities: OwnExternalIdentities },
): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listExternalIdentities',
      summary: 'List your linked accounts at providers',
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
      summary: 'Start to link an account at a provider',
      description: `Returns a nonce for the id_token that completes the link. With \`redirect_to\` and \`code_challenge\`, it returns the URL of a redirect to the provider instead, as a login does. The browser comes back to \`redirect_to\` with \`authentication_id\`, which is the id of the started link, and \`code\`. Needs ${freshProof}`,
      params: Type.Object({ name }),
      body: ExternalIdentityRequest,
      response: { 201: { ...StartedExternalIdentity, description: 'Send the secret next.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found', 'redirect_not_allowed'] },
    async handler(request, reply) {
      const { proof, ...redirect } = request.body;
      const challenge = await identities.begin(callingSessionOf(request), request.params.name, proof, redirect);
      return reply.code(201).send(challenge);
    },
  });

  app.route({
    method: 'POST',
    url: `${url}/:name/:id`,
    schema: {
      operationId: 'confirmExternalIdentity',
      summary: 'Complete a link to an account at a provider',
      description:
        'From now on, that account logs in this user. Only a session of the user and the device that started the link can complete it. If the account is linked to another user, this request returns 409. The request that starts the link does not reveal this.',
      params: NamedParams,
      body: ExternalIdentityAnswer,
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
      summary: 'Unlink an account at a provider',
      description: `Refused if it is the only way to log in. Needs ${freshProof}`,
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
