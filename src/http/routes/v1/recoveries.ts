import type { Recoveries } from '../../../authentication/self-service/recoveries.js';
import { BegunChallenge, Recovered, RecoveryAnswer, RecoveryRequest } from '../../../contract/account.js';
import { IdParams } from '../../path-id.js';
import { type App, originOf } from '../../route.js';

/** Making a forgotten password or PIN anew, without a session. */
export function recoveryRoutes(app: App, { recoveries }: { recoveries: Recoveries }): void {
  app.route({
    method: 'POST',
    url: '/v1/recoveries',
    schema: {
      operationId: 'startRecovery',
      summary: 'Recover a forgotten password or PIN: the first half',
      description:
        'Sends a code to the address if an account has it and has something to recover. The answer is always the same.',
      tags: ['Account'],
      body: RecoveryRequest,
      response: { 201: { ...BegunChallenge, description: 'If there is such an account, a code is on its way.' } },
    },
    config: { access: 'public', problems: ['too_many_requests'] },
    async handler(request, reply) {
      return reply.code(201).send(await recoveries.begin(request.body, originOf(request)));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/recoveries/:id',
    schema: {
      operationId: 'completeRecovery',
      summary: 'Recover a forgotten password or PIN: the second half',
      description:
        'With the code, the new secret counts, every login of the account ends, and what was guessed wrong is forgotten, but for an operator’s lock. A new PIN does all that at effective_at (PIN_RECOVERY_DELAY), and can be cancelled until then. It is no login: that follows as usual, with every second factor there is.',
      tags: ['Account'],
      params: IdParams,
      body: RecoveryAnswer,
      response: { 200: { ...Recovered, description: 'The new secret counts, or waits.' } },
    },
    config: { access: 'public', problems: ['code_rejected', 'account_temporarily_locked', 'too_many_requests'] },
    async handler(request) {
      return recoveries.complete(request.params.id, request.body, originOf(request));
    },
  });
}
