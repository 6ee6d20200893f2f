import { Type } from 'typebox';
import type { PinRecoveries } from '../../../authentication/self-service/pin-recoveries.js';
import { RecoveryCancellation } from '../../../contract/account.js';
import { type App, originOf } from '../../route.js';

/** Cancelling a recovery of the PIN without a session: for who was told of it at another address of the account. */
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
        'With the code of the message that told of it, and any phone number or mail address of the account. The PIN stays what it is.',
      tags: ['Account'],
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
