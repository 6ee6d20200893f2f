import type { Registrations } from '../../../account/registrations.js';
import { Account } from '../../../contract/account/account.js';
import { StartedChallenge } from '../../../contract/account/code.js';
import { RegistrationAnswer, RegistrationRequest } from '../../../contract/account/registration.js';
import { IdParams } from '../../requests/parameters.js';
import { type App, originOf } from '../../requests/route.js';

/** Routes for self-service registration, if the operator allows it. */
export function registrationRoutes(app: App, { registrations }: { registrations: Registrations }): void {
  app.route({
    method: 'POST',
    url: '/v1/registrations',
    schema: {
      operationId: 'startRegistration',
      summary: 'Start a registration',
      description:
        'Needs REGISTRATION=on. Sends a code to the address. If an account has the address already, its user gets a notice instead, and the response is the same.',
      tags: ['Account'],
      body: RegistrationRequest,
      response: { 201: { ...StartedChallenge, description: 'A message is sent.' } },
    },
    config: { access: 'public', problems: ['registration_off', 'too_many_requests'] },
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
        'The code creates the account with the confirmed address and the other members of the request. A registration is not a login: log in afterwards.',
      tags: ['Account'],
      params: IdParams,
      body: RegistrationAnswer,
      response: { 201: { ...Account, description: 'The account.' } },
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
      return reply.code(201).send(await registrations.complete(request.params.id, request.body, originOf(request)));
    },
  });
}
