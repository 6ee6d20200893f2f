import { Type } from 'typebox';
import type { LogOutEverywhere } from '../../../../account/logout-everywhere.js';
import { LogoutRequest } from '../../../../contract/account/account.js';
import { LogoutResult } from '../../../../contract/user.js';
import { callingSessionOf } from '../../../requests/proven-request.js';
import type { App } from '../../../requests/route.js';

/** A route that ends the other logins of a user. It needs no proof, because it only takes access away. */
export function accountLogoutRoutes(app: App, { logOutEverywhere }: { logOutEverywhere: LogOutEverywhere }): void {
  app.route({
    method: 'POST',
    url: '/v1/account/logout-everywhere',
    schema: {
      operationId: 'logOutEverywhere',
      summary: 'Log out on all other devices',
      description:
        'Ends every login of the account except the calling one, from the next request on, with its sessions and streams. Also ends open logins, links for a role, registrations and recoveries. The calling login keeps its token and its sessions, unless you send `all`.',
      body: Type.Unsafe<LogoutRequest | null>({ ...LogoutRequest, type: ['object', 'null'] }),
      response: { 200: { ...LogoutResult, description: 'How many authentication tokens have ended.' } },
    },
    config: {
      access: 'session',
      optionalBody: true,
      document: { body: LogoutRequest },
      problems: ['too_many_requests'],
    },
    async handler(request) {
      return { ended: await logOutEverywhere(callingSessionOf(request), { all: request.body?.all ?? false }) };
    },
  });
}
