import type { Proofs } from '../../../authentication/self-service/proofs.js';
import { ProofRequest, StartedProof } from '../../../contract/account.js';
import { proverOf } from '../../prover.js';
import type { App } from '../../route.js';

/** Beginning a fresh proof that needs a challenge. It is used as the member `proof` of what it is for. */
export function accountProofRoutes(app: App, { proofs }: { proofs: Proofs }): void {
  app.route({
    method: 'POST',
    url: '/v1/account/proofs',
    schema: {
      operationId: 'startProof',
      summary: 'Start a fresh proof of who one is',
      description:
        'For what changes an account, where the password is not at hand. sms and email send a code, which is used as `{"type":"code","id","secret"}`; passkey answers the request options for the assertion. A proof counts once, on this device, within five minutes.',
      tags: ['Account'],
      body: ProofRequest,
      response: { 201: { ...StartedProof, description: 'The proof was started.' } },
    },
    config: { access: 'session', problems: ['too_many_requests'] },
    async handler(request, reply) {
      return reply.code(201).send(await proofs.begin(proverOf(request), request.body.type));
    },
  });
}
