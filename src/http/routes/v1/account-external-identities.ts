import { Type } from 'typebox';
import type { OwnExternalIdentities } from '../../../authentication/self-service/own-external-identities.js';
import { ProvenRequest } from '../../../contract/account.js';
import { BegunExternalIdentity, ExternalIdentity, IdTokenAnswer } from '../../../contract/external-identity.js';
import { parseId } from '../../../lib/ids.js';
import { pathId } from '../../path-id.js';
import { freshProof, proofProblems, proverOf } from '../../prover.js';
import { type App, sessionOf } from '../../route.js';

const url = '/v1/account/external-identities';
const name = Type.String({ description: 'The name of the provider, such as google.' });
const NamedParams = Type.Object({ name, id: Type.String({ description: 'Of the first half, or of the link.' }) });

/** One's own accounts at OpenID providers. */
export function accountExternalIdentityRoutes(
  app: App,
  { ownExternalIdentities: identities }: { ownExternalIdentities: OwnExternalIdentities },
): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listExternalIdentities',
      summary: "List one's own accounts at OpenID providers",
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
      summary: 'Link an account at an OpenID provider: the first half',
      description: `Answers with a nonce for the id_token that the second half takes. Needs ${freshProof}`,
      tags: ['Account'],
      params: Type.Object({ name }),
      body: ProvenRequest,
      response: { 201: { ...BegunExternalIdentity, description: 'Waits for an id_token.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found'] },
    async handler(request, reply) {
      const begun = await identities.begin(proverOf(request), request.params.name, request.body.proof);
      return reply.code(201).send(begun);
    },
  });

  app.route({
    method: 'POST',
    url: `${url}/:name/:id`,
    schema: {
      operationId: 'confirmExternalIdentity',
      summary: 'Link an account at an OpenID provider: the second half',
      description:
        'From now on an id_token of that account logs in here. That it is linked to somebody else is told only now (409).',
      tags: ['Account'],
      params: NamedParams,
      body: IdTokenAnswer,
      response: { 200: { ...ExternalIdentity, description: 'The link.' } },
    },
    config: {
      access: 'session',
      problems: [
        ...(['not_found', 'external_identity_rejected', 'external_identity_taken'] as const),
        ...(['too_many_requests', 'authenticator_unavailable'] as const),
      ],
    },
    async handler(request) {
      const { name, id } = request.params;
      return identities.confirm(proverOf(request), name, parseId(id), request.body.secret);
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:name/:id`,
    schema: {
      operationId: 'deleteExternalIdentity',
      summary: 'Unlink an account at an OpenID provider',
      description: `Where another way in remains. Needs ${freshProof}`,
      tags: ['Account'],
      params: NamedParams,
      body: ProvenRequest,
      response: { 204: Type.Null({ description: 'The link is gone.' }) },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found', 'last_way_in'] },
    async handler(request, reply) {
      await identities.remove(proverOf(request), request.params.name, pathId(request.params), request.body.proof);
      return reply.code(204).send(null);
    },
  });
}
