import { Type } from 'typebox';
import type { OwnTotp } from '../../../authentication/self-service/own-totp.js';
import { ProvenRequest } from '../../../contract/account.js';
import { EnrollmentRequest, NewTotp, RecoveryCodes, TotpConfirmation } from '../../../contract/factors.js';
import { IdParams, pathId } from '../../path-id.js';
import { freshProof, proofProblems, proverOf } from '../../prover.js';
import type { App } from '../../route.js';

/** One's own authenticator app and recovery codes. */
export function accountTotpRoutes(app: App, { ownTotp }: { ownTotp: OwnTotp }): void {
  app.route({
    method: 'POST',
    url: '/v1/account/totp',
    schema: {
      operationId: 'startTotp',
      summary: 'Start to enrol an authenticator app',
      description: `Answers a secret for the app. It counts once a code of it has confirmed it, within ten minutes and on this device. Needs ${freshProof}`,
      tags: ['Account'],
      body: EnrollmentRequest,
      response: { 201: { ...NewTotp, description: 'The secret, shown once.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'enrollment_link_rejected'] },
    async handler(request, reply) {
      return reply.code(201).send(await ownTotp.begin(proverOf(request), request.body));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/totp/:id',
    schema: {
      operationId: 'confirmTotp',
      summary: 'Enrol an authenticator app',
      description:
        'From the next login on the app is asked for, where the policy says so; other logins go on. An app that was enrolled before no longer counts. Who has no recovery codes yet gets ten.',
      tags: ['Account'],
      params: IdParams,
      body: TotpConfirmation,
      response: { 200: { ...RecoveryCodes, description: 'Enrolled. The recovery codes, if new ones were made.' } },
    },
    config: {
      access: 'session',
      problems: ['proof_rejected', 'not_found', 'secret_unreadable', 'enrollment_link_rejected'],
    },
    async handler(request) {
      return ownTotp.confirm(proverOf(request), pathId(request.params), request.body.secret);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/totp',
    schema: {
      operationId: 'deleteTotp',
      summary: "Remove one's own authenticator app",
      description: 'Needs a fresh proof: password, passkey or totp.',
      tags: ['Account'],
      body: ProvenRequest,
      response: { 204: Type.Null({ description: 'The app no longer counts.' }) },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found'] },
    async handler(request, reply) {
      await ownTotp.remove(proverOf(request), request.body.proof);
      return reply.code(204).send(null);
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/recovery-codes',
    schema: {
      operationId: 'renewRecoveryCodes',
      summary: "Make new recovery codes of one's own",
      description:
        'Ten, in place of all old ones. 404 for who has no second factor. Needs a fresh proof: password, passkey or totp.',
      tags: ['Account'],
      body: ProvenRequest,
      response: { 201: { ...RecoveryCodes, description: 'The new codes, shown once.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found'] },
    async handler(request, reply) {
      return reply.code(201).send(await ownTotp.renewRecoveryCodes(proverOf(request), request.body.proof));
    },
  });
}
