import type { Recoveries } from '../../../account/recoveries.js';
import { SentCode } from '../../../contract/account/code.js';
import { RecoveryAnswer, RecoveryRequest, RecoveryResult } from '../../../contract/account/recovery.js';
import { IdParams } from '../../requests/parameters.js';
import { type App, originOf } from '../../requests/route.js';

/** Routes that replace a forgotten password or PIN, without a session. */
export function recoveryRoutes(app: App, { recoveries }: { recoveries: Recoveries }): void {
  app.route({
    method: 'POST',
    url: '/v1/recoveries',
    schema: {
      operationId: 'startRecovery',
      summary: 'Start the recovery of a password or PIN',
      description:
        'Sends a code if an account has this address and the secret to recover. The response is always the same. The same request again, after `resend_at`, sends another code.',
      body: RecoveryRequest,
      response: { 201: { ...SentCode, description: 'If there is such an account, a code is sent.' } },
    },
    config: { access: 'public', problems: ['human_check_required', 'too_many_requests'] },
    async handler(request, reply) {
      return reply.code(201).send(await recoveries.begin(request.body, originOf(request)));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/recoveries/:id',
    schema: {
      operationId: 'completeRecovery',
      summary: 'Complete the recovery of a password or PIN',
      description:
        'The code sets the new secret, ends every login of the account, and resets the count of wrong secrets. An operator’s lock stays. With PIN_RECOVERY_DELAY, a new PIN takes effect at effective_at, and you can cancel it until then. If nobody had proven the address, the code removes everything that the account had before, because nobody knows whose it was. A recovery is not a login: log in afterwards, with the second factor if the account has one.',
      params: IdParams,
      body: RecoveryAnswer,
      response: {
        200: { ...RecoveryResult, description: 'The new secret is set, or pending. With check, the code is correct.' },
      },
    },
    config: { access: 'public', problems: ['code_rejected', 'account_temporarily_locked', 'too_many_requests'] },
    async handler(request) {
      return recoveries.complete(request.params.id, request.body, originOf(request));
    },
  });
}
