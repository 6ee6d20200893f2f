import type { Registrations } from '../../../authentication/self-service/registrations.js';
import { Account, BegunChallenge, RegistrationAnswer, RegistrationRequest } from '../../../contract/account.js';
import { IdParams } from '../../path-id.js';
import { type App, originOf } from '../../route.js';

/** Making an account for oneself, where the operator lets people. */
export function registrationRoutes(app: App, { registrations }: { registrations: Registrations }): void {
  app.route({
    method: 'POST',
    url: '/v1/registrations',
    schema: {
      operationId: 'startRegistration',
      summary: 'Register: the first half',
      description:
        'Where REGISTRATION is on. Sends a code to the address. If somebody has it already they are told that somebody tried, and the answer is the same.',
      tags: ['Account'],
      body: RegistrationRequest,
      response: { 201: { ...BegunChallenge, description: 'A message is on its way.' } },
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
      summary: 'Register: the second half',
      description:
        'With the code the account is made, with the proven address and whatever else is given. It is no login: that follows as usual.',
      tags: ['Account'],
      params: IdParams,
      body: RegistrationAnswer,
      response: { 201: { ...Account, description: 'The account.' } },
    },
    config: {
      access: 'public',
      problems: [
        ...(['registration_off', 'code_rejected', 'identity_taken'] as const),
        ...(['account_temporarily_locked', 'too_many_requests'] as const),
      ],
    },
    async handler(request, reply) {
      return reply.code(201).send(await registrations.complete(request.params.id, request.body, originOf(request)));
    },
  });
}
