import type { OwnAccount } from '../../../authentication/self-service/account.js';
import { Account, ChangedPassword, PasswordChange, PinChange, ProvenRequest } from '../../../contract/account.js';
import { freshProof, proofProblems, proverOf } from '../../prover.js';
import type { App } from '../../route.js';

const answer = { 200: { ...Account, description: 'The account as it is now.' } };
const config = { access: 'session', problems: proofProblems } as const;

/** One's own password and PIN. */
export function accountSecretRoutes(app: App, { account }: { account: OwnAccount }): void {
  app.route({
    method: 'PUT',
    url: '/v1/account/password',
    schema: {
      operationId: 'putPassword',
      summary: "Set one's own password",
      description: `Needs ${freshProof} Every other login of the account ends, with its sessions and streams, on the next request everywhere; the one that asks goes on, with the new authentication token of the answer. Its old token gets no session any more: a client that loses the answer keeps its session, and then logs in again.`,
      tags: ['Account'],
      body: PasswordChange,
      response: { 200: { ...ChangedPassword, description: 'The account as it is now, with the new token.' } },
    },
    config,
    async handler(request) {
      return account.setPassword(proverOf(request), request.body);
    },
  });

  app.route({
    method: 'PUT',
    url: '/v1/account/pin',
    schema: {
      operationId: 'putPin',
      summary: "Set one's own PIN",
      description:
        'Needs a fresh proof: password, passkey, or the PIN that there is; where there is none yet, also a code. For PIN_RECOVERY_DELAY after a code has set a password or enrolled a factor, only the PIN counts, also where there is a second factor.',
      tags: ['Account'],
      body: PinChange,
      response: answer,
    },
    config,
    async handler(request) {
      return account.setPin(proverOf(request), request.body);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/pin',
    schema: {
      operationId: 'deletePin',
      summary: "Remove one's own PIN",
      description:
        'Needs a fresh proof: password, passkey, or the PIN itself. A code alone does not do: it may be all that the PIN stands beside. For PIN_RECOVERY_DELAY after a code has set a password or enrolled a factor, only the PIN counts, also where there is a second factor.',
      tags: ['Account'],
      body: ProvenRequest,
      response: answer,
    },
    config,
    async handler(request) {
      return account.removePin(proverOf(request), request.body.proof);
    },
  });
}
