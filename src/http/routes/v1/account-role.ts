import type { OwnAccount } from '../../../authentication/self-service/account.js';
import { Account, ProvenRequest, RecordedProof } from '../../../contract/account.js';
import { RoleActivation } from '../../../contract/factors.js';
import { freshProof, proofProblems, proverOf } from '../../prover.js';
import type { App } from '../../route.js';

/** What people do who have a role. */
export function accountRoleRoutes(app: App, { account }: { account: OwnAccount }): void {
  app.route({
    method: 'PUT',
    url: '/v1/account/session-proof',
    schema: {
      operationId: 'putSessionProof',
      summary: 'Record a fresh proof for this session',
      description: `As good as a fresh login: what a session administers may need a login or a proof from the last ADMIN_PROOF_MAX_AGE. Needs ${freshProof}`,
      tags: ['Account'],
      body: ProvenRequest,
      response: { 200: { ...RecordedProof, description: 'When it was made, and until when it counts.' } },
    },
    config: { access: 'session', problems: proofProblems },
    async handler(request) {
      return account.prove(proverOf(request), request.body.proof);
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/role',
    schema: {
      operationId: 'activateRole',
      summary: "Make one's own role take effect",
      description:
        'For who has a role and a second factor: with the secret of a link that an operator made, and a proof by that factor (totp or passkey). Who has no second factor sends the secret where a factor is enrolled.',
      tags: ['Account'],
      body: RoleActivation,
      response: { 200: { ...Account, description: 'The account as it is now.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'enrollment_link_rejected', 'role_not_active'] },
    async handler(request) {
      return account.activateRole(proverOf(request), request.body);
    },
  });
}
