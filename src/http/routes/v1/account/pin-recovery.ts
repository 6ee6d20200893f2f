import type { OwnAccount } from '../../../../account/account.js';
import type { PinRecoveries } from '../../../../account/pin-recoveries.js';
import { Account } from '../../../../contract/account/account.js';
import type { Database } from '../../../../database/database.js';
import { callingSessionOf } from '../../../requests/proven-request.js';
import type { App } from '../../../requests/route.js';

/** A route that cancels a pending recovery of the user's own PIN. */
export function accountPinRecoveryRoutes(
  app: App,
  services: {
    readonly account: Pick<OwnAccount, 'get'>;
    readonly pinRecoveries: Pick<PinRecoveries, 'cancel'>;
    readonly database: Pick<Database, 'user'>;
  },
): void {
  const { account, pinRecoveries, database } = services;
  app.route({
    method: 'DELETE',
    url: '/v1/account/pin-recovery',
    schema: {
      operationId: 'cancelPinRecovery',
      summary: 'Cancel the recovery of your PIN',
      description:
        'Cancels a recovery of your PIN that has not taken effect yet (pin_recovery of the account). Your current PIN stays valid. This needs no re-authentication.',
      response: { 200: { ...Account, description: 'The account without a pending PIN.' } },
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request) {
      const { userId, origin } = callingSessionOf(request);
      await database.user(userId).transaction((tx) => pinRecoveries.cancel(tx, userId, origin));
      return account.get(userId);
    },
  });
}
