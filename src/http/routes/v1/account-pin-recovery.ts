import type { OwnAccount } from '../../../authentication/self-service/account.js';
import type { PinRecoveries } from '../../../authentication/self-service/pin-recoveries.js';
import { Account } from '../../../contract/account.js';
import type { Database } from '../../../database/database.js';
import { proverOf } from '../../prover.js';
import type { App } from '../../route.js';

/** What one's own session does about a recovery of the PIN that waits. */
export function accountPinRecoveryRoutes(
  app: App,
  services: {
    readonly account: Pick<OwnAccount, 'get'>;
    readonly pinRecoveries: Pick<PinRecoveries, 'cancel'>;
    readonly database: Pick<Database, 'lane'>;
  },
): void {
  const { account, pinRecoveries, database } = services;
  app.route({
    method: 'DELETE',
    url: '/v1/account/pin-recovery',
    schema: {
      operationId: 'cancelPinRecovery',
      summary: "Cancel a recovery of one's own PIN",
      description:
        'A PIN that a code has set and that waits (pin_recovery of the account) is dropped. Needs no proof: it keeps things as they are.',
      tags: ['Account'],
      response: { 200: { ...Account, description: 'The account as it is now.' } },
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request) {
      const { userId, origin } = proverOf(request);
      await database.lane(userId).transaction((tx) => pinRecoveries.cancel(tx, userId, origin));
      return account.get(userId);
    },
  });
}
