import { Type } from 'typebox';
import type { OwnPasskeys } from '../../../../account/own-passkeys.js';
import {
  NewPasskey,
  Passkey,
  PasskeyAnswer,
  PasskeyChange,
  PasskeyRequest,
} from '../../../../contract/account/factors.js';
import { ProvenRequest } from '../../../../contract/account/proof.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import { callingSessionOf, freshProof, proofProblems } from '../../../requests/proven-request.js';
import { type App, sessionOf } from '../../../requests/route.js';

/** Routes for a user's own passkeys. */
export function accountPasskeyRoutes(app: App, { ownPasskeys }: { ownPasskeys: OwnPasskeys }): void {
  app.route({
    method: 'GET',
    url: '/v1/account/passkeys',
    schema: {
      operationId: 'listPasskeys',
      summary: 'List your passkeys',
      response: { 200: Type.Array(Passkey, { description: 'The passkeys, oldest first.' }) },
    },
    config: { access: 'session' },
    async handler(request) {
      return ownPasskeys.list(sessionOf(request).user_id);
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/passkeys',
    schema: {
      operationId: 'startPasskey',
      summary: 'Start to enrol a passkey',
      description: `Returns creation options for the browser or the app. They are valid for five minutes, on this device. Needs ${freshProof}`,
      body: PasskeyRequest,
      response: { 201: { ...NewPasskey, description: 'The creation options.' } },
    },
    config: { access: 'session', problems: [...proofProblems, 'enrollment_link_rejected'] },
    async handler(request, reply) {
      return reply.code(201).send(await ownPasskeys.begin(callingSessionOf(request), request.body));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/passkeys/:id',
    schema: {
      operationId: 'createPasskey',
      summary: 'Complete the enrolment of a passkey',
      params: IdParams,
      body: PasskeyAnswer,
      response: { 201: { ...Passkey, description: 'The passkey. You can log in with it from now on.' } },
    },
    config: { access: 'session', problems: ['proof_rejected', 'not_found', 'enrollment_link_rejected'] },
    async handler(request, reply) {
      const { response } = request.body;
      return reply.code(201).send(await ownPasskeys.enrol(callingSessionOf(request), pathId(request.params), response));
    },
  });

  app.route({
    method: 'PATCH',
    url: '/v1/account/passkeys/:id',
    schema: {
      operationId: 'changePasskey',
      summary: 'Rename one of your passkeys',
      params: IdParams,
      body: PasskeyChange,
      response: { 200: { ...Passkey, description: 'The changed passkey.' } },
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request) {
      return ownPasskeys.rename(sessionOf(request).user_id, pathId(request.params), request.body.name);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/passkeys/:id',
    schema: {
      operationId: 'deletePasskey',
      summary: 'Remove one of your passkeys',
      description: `You can no longer log in with it. Existing logins keep working. Needs ${freshProof}`,
      params: IdParams,
      body: ProvenRequest,
      response: { 204: Type.Null({ description: 'The passkey is removed.' }) },
    },
    config: { access: 'session', problems: [...proofProblems, 'not_found'] },
    async handler(request, reply) {
      await ownPasskeys.remove(callingSessionOf(request), pathId(request.params), request.body.proof);
      return reply.code(204).send(null);
    },
  });
}
