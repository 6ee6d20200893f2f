import { Type } from 'typebox';
import type { OwnAccount } from '../../../../account/account.js';
import type { Proofs } from '../../../../account/proofs.js';
import { Account, AccountChange, AccountDetails } from '../../../../contract/account/account.js';
import { ProvenRequest } from '../../../../contract/account/proof.js';
import { Problem } from '../../../../lib/problem.js';
import { callingSessionOf, freshProof, proofProblems } from '../../../requests/proven-request.js';
import { type App, sessionOf } from '../../../requests/route.js';

/** Routes that read, change and delete a user's own account. */
export function accountRoutes(app: App, { account, proofs }: { account: OwnAccount; proofs: Proofs }): void {
  app.route({
    method: 'GET',
    url: '/v1/account',
    schema: {
      operationId: 'getAccount',
      summary: 'Get your account',
      response: { 200: { ...AccountDetails, description: 'The account.' } },
    },
    config: { access: 'session' },
    async handler(request) {
      const { user_id: userId } = sessionOf(request);
      const [ownAccount, options] = await Promise.all([account.get(userId), proofs.options(userId)]);
      return { ...ownAccount, proofs: [...options] };
    },
  });

  app.route({
    method: 'PATCH',
    url: '/v1/account',
    schema: {
      operationId: 'changeAccount',
      summary: 'Change your account',
      description: `Changes only the members that are present; null removes a value. Mail address, phone number, password and PIN have their own operations. A change of the username needs ${freshProof}`,
      body: AccountChange,
      response: { 200: { ...Account, description: 'The changed account.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'identity_taken', 'not_for_support_logins'] },
    async handler(request) {
      const { username, proof } = request.body;
      const isCredential = username !== undefined || proof !== undefined;
      if (isCredential && sessionOf(request).act !== undefined) throw new Problem('not_for_support_logins');
      return account.change(callingSessionOf(request), request.body);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account',
    schema: {
      operationId: 'deleteAccount',
      summary: 'Delete your account',
      description: `Every login ends at once. The inbox and all other data are deleted within moments. This cannot be undone. Needs ${freshProof}`,
      body: ProvenRequest,
      response: { 204: Type.Null({ description: 'The account is deleted.' }) },
    },
    config: { access: 'session', problems: proofProblems },
    async handler(request, reply) {
      await account.remove(callingSessionOf(request), request.body.proof);
      return reply.code(204).send(null);
    },
  });
}
