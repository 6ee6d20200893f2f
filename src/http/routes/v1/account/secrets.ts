import type { OwnAccount } from '../../../../account/account.js';
import { Account, ChangedPassword, PasswordChange, PinChange } from '../../../../contract/account/account.js';
import { ProvenRequest } from '../../../../contract/account/proof.js';
import { callingSessionOf, freshProof, proofProblems } from '../../../requests/proven-request.js';
import type { App } from '../../../requests/route.js';

const answer = { 200: { ...Account, description: 'The changed account.' } };
const config = { access: 'session', problems: proofProblems } as const;

/** Routes for a user's own password and PIN. */
export function accountSecretRoutes(app: App, { account }: { account: OwnAccount }): void {
  app.route({
    method: 'PUT',
    url: '/v1/account/password',
    schema: {
      operationId: 'putPassword',
      summary: 'Set your password',
      description: `Needs ${freshProof} If the account has a password and the proof is of another type, it also needs current_password: a wrong one returns 400 with the field error password_wrong, counts like a wrong proof, and uses no code up. Users who have forgotten their password recover it. Every other login of the account ends, with its sessions and streams, from the next request on. The login that calls this continues with the new authentication token in the response. Its old token cannot get sessions any more: a client that loses the response keeps its session, and logs in again afterwards.`,
      body: PasswordChange,
      response: { 200: { ...ChangedPassword, description: 'The changed account, with the new token.' } },
    },
    config,
    async handler(request) {
      return account.setPassword(callingSessionOf(request), request.body);
    },
  });

  app.route({
    method: 'PUT',
    url: '/v1/account/pin',
    schema: {
      operationId: 'putPin',
      summary: 'Set your PIN',
      description:
        'Needs re-authentication: a proof of type password, passkey or pin (the current PIN). If there is no PIN yet, a code also works. For PIN_RECOVERY_DELAY after a code has set a password or enrolled a factor, only pin works, also with a second factor.',
      body: PinChange,
      response: answer,
    },
    config,
    async handler(request) {
      return account.setPin(callingSessionOf(request), request.body);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/pin',
    schema: {
      operationId: 'deletePin',
      summary: 'Remove your PIN',
      description:
        'Needs re-authentication: a proof of type password, passkey or pin. A code is not enough: the PIN may be the only protection besides codes. For PIN_RECOVERY_DELAY after a code has set a password or enrolled a factor, only pin works, also with a second factor.',
      body: ProvenRequest,
      response: answer,
    },
    config,
    async handler(request) {
      return account.removePin(callingSessionOf(request), request.body.proof);
    },
  });
}
