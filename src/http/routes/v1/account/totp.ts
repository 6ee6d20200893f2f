import { Type } from 'typebox';
import type { OwnTotp } from '../../../../account/own-totp.js';
import { EnrollmentRequest, NewTotp, RecoveryCodes, TotpConfirmation } from '../../../../contract/account/factors.js';
import { ProvenRequest } from '../../../../contract/account/proof.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import { callingSessionOf, freshProof, proofProblems } from '../../../requests/proven-request.js';
import type { App } from '../../../requests/route.js';

/** Routes for a user's own authenticator app and recovery codes. */
export function accountTotpRoutes(app: App, { ownTotp }: { ownTotp: OwnTotp }): void {
  app.route({
    method: 'POST',
    url: '/v1/account/totp',
    schema: {
      operationId: 'startTotp',
      summary: 'Start to enrol an authenticator app',
      description: `Returns a secret for the app. Confirm it with a code of the app, within ten minutes and on this device. Needs ${freshProof}`,
      body: EnrollmentRequest,
      response: { 201: { ...NewTotp, description: 'The secret, shown once.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'enrollment_link_rejected'] },
    async handler(request, reply) {
      return reply.code(201).send(await ownTotp.begin(callingSessionOf(request), request.body));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/totp/:id',
    schema: {
      operationId: 'confirmTotp',
      summary: 'Enrol an authenticator app',
      description:
        'If the policy requires a second factor, the next logins need the app. Existing logins keep working. An app that was enrolled before no longer works. A user without recovery codes gets ten.',
      params: IdParams,
      body: TotpConfirmation,
      response: {
        200: { ...RecoveryCodes, description: 'The app is enrolled. Contains the recovery codes if they are new.' },
      },
    },
    config: {
      access: 'session',
      problems: ['proof_rejected', 'not_found', 'secret_unreadable', 'enrollment_link_rejected'],
    },
    async handler(request) {
      return ownTotp.confirm(callingSessionOf(request), pathId(request.params), request.body.secret);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/totp',
    schema: {
      operationId: 'deleteTotp',
      summary: 'Remove your authenticator app',
      description: 'Needs re-authentication: a proof of type password, passkey or totp.',
      body: ProvenRequest,
      response: { 204: Type.Null({ description: 'The app is removed.' }) },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found'] },
    async handler(request, reply) {
      await ownTotp.remove(callingSessionOf(request), request.body.proof);
      return reply.code(204).send(null);
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/recovery-codes',
    schema: {
      operationId: 'renewRecoveryCodes',
      summary: 'Create new recovery codes',
      description:
        'Returns ten codes that replace all old ones. 404 without a second factor. Needs re-authentication: a proof of type password, passkey or totp.',
      body: ProvenRequest,
      response: { 201: { ...RecoveryCodes, description: 'The new codes, shown once.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found'] },
    async handler(request, reply) {
      return reply.code(201).send(await ownTotp.renewRecoveryCodes(callingSessionOf(request), request.body.proof));
    },
  });
}
