import { Type } from 'typebox';
import type { PinRecoveries } from '../../../account/pin-recoveries.js';
import { RecoveryCancellation } from '../../../contract/account/recovery.js';
import { type App, originOf } from '../../requests/route.js';

/** A route that cancels a recovery of the PIN without a session, with the code from the notice about it. */
export function recoveryCancellationRoutes(
  app: App,
  { pinRecoveries }: { pinRecoveries: Pick<PinRecoveries, 'cancelByCode'> },
): void {
  app.route({
    method: 'POST',
    url: '/v1/recovery-cancellations',
    schema: {
      operationId: 'cancelRecovery',
      summary: 'Cancel a recovery of the PIN without a session',
      description:
        'Needs the code from the notice about the recovery, and any phone number or mail address of the account. The PIN does not change.',
      body: RecoveryCancellation,
      response: { 204: Type.Null({ description: 'The recovery is cancelled.' }) },
    },
    config: { access: 'public', problems: ['code_rejected', 'too_many_requests'] },
    async handler(request, reply) {
      const { identity, secret } = request.body;
      await pinRecoveries.cancelByCode(identity, secret, originOf(request));
      return reply.code(204).send(null);
    },
  });
}
