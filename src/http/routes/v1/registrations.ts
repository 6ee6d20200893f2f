import type { Registrations } from '../../../account/registrations.js';
import { SentCode } from '../../../contract/account/code.js';
import { RegistrationAnswer, RegistrationRequest, RegistrationResult } from '../../../contract/account/registration.js';
import { nonceHeader } from '../../../contract/session.js';
import type { DpopVerifier } from '../../../sessions/dpop/dpop-verifier.js';
import { IdParams } from '../../requests/parameters.js';
import { type App, originOf } from '../../requests/route.js';
import { addFirstNonce, toAuthentication } from './tokens.js';

interface RegistrationServices {
  readonly registrations: Registrations;
  readonly dpopVerifier: Pick<DpopVerifier, 'nonceAt'>;
}

/** Routes for self-service registration, if the operator allows it. */
export function registrationRoutes(app: App, { registrations, dpopVerifier }: RegistrationServices): void {
  app.route({
    method: 'POST',
    url: '/v1/registrations',
    schema: {
      operationId: 'startRegistration',
      summary: 'Start a registration',
      description:
        'Needs REGISTRATION=on. Sends a code to the address. If an account has the address already, its user gets a notice instead, and the response is the same. The same request again, after `resend_at`, sends another code.',
      body: RegistrationRequest,
      response: { 201: { ...SentCode, description: 'A message is sent.' } },
    },
    config: { access: 'public', problems: ['registration_off', 'human_check_required', 'too_many_requests'] },
    async handler(request, reply) {
      return reply.code(201).send(await registrations.begin(request.body, originOf(request)));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/registrations/:id',
    schema: {
      operationId: 'completeRegistration',
      summary: 'Complete a registration',
      description:
        'The code creates the account with the confirmed address and the other members of the request. With `device`, the answer also has `authentication`: the first login with its token. With `check`, nothing is created, and the answer is 200 if the code is correct. With `passkey: "begin"`, nothing is created, and the answer is 200 with the options for a passkey.',
      params: IdParams,
      body: RegistrationAnswer,
      response: {
        201: { ...RegistrationResult, headers: nonceHeader, description: 'The account.' },
        200: { ...RegistrationResult, description: 'With check, or the begin of a passkey: the code is correct.' },
      },
    },
    config: {
      access: 'public',
      problems: [
        'registration_off',
        'code_rejected',
        'identity_taken',
        'account_temporarily_locked',
        'too_many_requests',
      ],
    },
    async handler(request, reply) {
      const result = await registrations.complete(request.params.id, request.body, originOf(request));
      if ('expires_at' in result) return reply.code(200).send(result);
      const { account, authentication } = result;
      if (authentication === undefined) return reply.code(201).send(account);
      addFirstNonce(reply, dpopVerifier, authentication);
      return reply.code(201).send({ ...account, authentication: toAuthentication(authentication, request) });
    },
  });
}
