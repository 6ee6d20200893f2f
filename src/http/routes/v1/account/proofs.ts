import type { Proofs } from '../../../../account/proofs.js';
import { ProofRequest, StartedProof } from '../../../../contract/account/proof.js';
import { callingSessionOf } from '../../../requests/proven-request.js';
import type { App } from '../../../requests/route.js';

/** A route that starts a re-authentication that needs a challenge. The member `proof` of another request completes it. */
export function accountProofRoutes(app: App, { proofs }: { proofs: Proofs }): void {
  app.route({
    method: 'POST',
    url: '/v1/account/proofs',
    schema: {
      operationId: 'startProof',
      summary: 'Start a re-authentication',
      description:
        'For operations that need a proof, if you do not use the password. sms and email send a code: use it as `{"type":"code","id","secret"}`. passkey returns the request options for the assertion. provider takes `provider`, `redirect_to` and `code_challenge` as a login by redirect does: the user logs in at the provider again, which has to say so in `auth_time`, and the browser comes back with the `code`. A proof is valid once, on this device, for five minutes (with a provider for ten).',
      body: ProofRequest,
      response: { 201: { ...StartedProof, description: 'The proof was started.' } },
    },
    config: { access: 'session', problems: ['too_many_requests', 'redirect_not_allowed'] },
    async handler(request, reply) {
      return reply.code(201).send(await proofs.begin(callingSessionOf(request), request.body));
    },
  });
}
