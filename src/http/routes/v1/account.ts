import { Type } from 'typebox';
import type { OwnAccount } from '../../../authentication/self-service/account.js';
import { Account, AccountChange, ProvenRequest } from '../../../contract/account.js';
import { freshProof, proofProblems, proverOf } from '../../prover.js';
import { type App, sessionOf } from '../../route.js';

/** One's own account: reading, changing, deleting it. */
export function accountRoutes(app: App, { account }: { account: OwnAccount }): void {
  app.route({
    method: 'GET',
    url: '/v1/account',
    schema: {
      operationId: 'getAccount',
      summary: "Read one's own account",
      tags: ['Account'],
      response: { 200: { ...Account, description: 'The account.' } },
    },
    config: { access: 'session' },
    async handler(request) {
      return account.get(sessionOf(request).user_id);
    },
  });

  app.route({
    method: 'PATCH',
    url: '/v1/account',
    schema: {
      operationId: 'changeAccount',
      summary: "Change one's own account",
      description: `Only the members that are present change; null removes. A username needs ${freshProof} Mail address, phone number, password and PIN have operations of their own.`,
      tags: ['Account'],
      body: AccountChange,
      response: { 200: { ...Account, description: 'The account as it is now.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'identity_taken'] },
    async handler(request) {
      return account.change(proverOf(request), request.body);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account',
    schema: {
      operationId: 'deleteAccount',
      summary: "Delete one's own account",
      description: `At once and for good: every login ends, the inbox and everything else follow within moments. Needs ${freshProof}`,
      tags: ['Account'],
      body: ProvenRequest,
      response: { 204: Type.Null({ description: 'The account is gone.' }) },
    },
    config: { access: 'session', problems: proofProblems },
    async handler(request, reply) {
      await account.remove(proverOf(request), request.body.proof);
      return reply.code(204).send(null);
    },
  });
}
