import type { OwnAccount } from '../../../../account/account.js';
import { Account } from '../../../../contract/account/account.js';
import { RoleActivation } from '../../../../contract/account/factors.js';
import { ProvenRequest, RecordedProof } from '../../../../contract/account/proof.js';
import { callingSessionOf, freshProof, proofProblems } from '../../../requests/proven-request.js';
import type { App } from '../../../requests/route.js';

/** Routes for users with a role. */
export function accountRoleRoutes(app: App, { account }: { account: OwnAccount }): void {
  app.route({
    method: 'PUT',
    url: '/v1/account/session-proof',
    schema: {
      operationId: 'putSessionProof',
      summary: 'Re-authenticate this session',
      description:
        `Checks of sessions of this login then show it: ` +
        '`proven_at`, and its method in `amr`' +
        `. Some admin operations need a login or re-authentication that is not older than ADMIN_PROOF_MAX_AGE: for them it has the same effect as a new login. The session token is replaced by the one in the answer. Needs ${freshProof}`,
      body: ProvenRequest,
      response: { 200: { ...RecordedProof, description: 'The time of the proof, and when it expires.' } },
    },
    config: { access: 'session', problems: proofProblems },
    async handler(request) {
      return account.prove(callingSessionOf(request), request.body.proof);
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/role',
    schema: {
      operationId: 'activateRole',
      summary: 'Activate your role',
      description:
        'For users with a role and a second factor. Needs the secret of a link that an operator created, and a proof of type totp or passkey. Without a second factor, send the secret when you enrol one.',
      body: RoleActivation,
      response: { 200: { ...Account, description: 'The changed account.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'enrollment_link_rejected', 'role_not_active'] },
    async handler(request) {
      return account.activateRole(callingSessionOf(request), request.body);
    },
  });
}
