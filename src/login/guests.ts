import type { TokenRequest } from '../contract/authentication.js';
import type { Database } from '../database/database.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { type FieldError, throwIfErrors } from '../lib/problem.js';
import type { HumanCheck } from '../limits/human-check.js';
import type { LoginPolicies } from '../limits/login-policies.js';
import type { RequestLimits } from '../limits/request-limits.js';
import type { Users } from '../users/users.js';
import type { LoginResult } from './completion.js';
import { logInFirst } from './first-authentication.js';
import { describeDevice, readKey } from './login-request.js';

/** Users without a credential. The token of their only login names them, until they add an address, a passkey or a provider. */
export interface Guests {
  /** Makes a guest, who is logged in. @throws Problem `validation_failed`, `too_many_requests` */
  enter(request: TokenRequest, origin: Origin): Promise<LoginResult>;
}

/** The authenticator that a client sends. */
export const guestAuthenticator = 'guest';

/** Creates the guests. */
export function createGuests({
  database,
  users,
  limits,
  policies,
  humanCheck,
}: {
  readonly database: Database;
  readonly users: Pick<Users, 'prepare' | 'create'>;
  readonly limits: Pick<RequestLimits, 'countLoginByAddress' | 'countGuest'>;
  readonly policies: LoginPolicies;
  readonly humanCheck: HumanCheck | undefined;
}): Guests {
  return {
    async enter(request, origin) {
      const errors: FieldError[] = [];
      const keyThumbprint = readKey(request.device, errors) ?? null;
      throwIfErrors(errors);
      const { clientAddress } = origin;
      await humanCheck?.pass({ purpose: 'guest', token: request.human_check, clientAddress });
      await limits.countLoginByAddress(clientAddress);
      await limits.countGuest(clientAddress);
      const userId = newId();
      const prepared = await users.prepare({}, userId, { isGuest: true, client: origin });
      const login = { authenticator: guestAuthenticator, device: describeDevice(request.device), keyThumbprint };
      return database.user(userId).transaction(async (tx) => {
        await users.create(tx, prepared, origin);
        return logInFirst(tx, { ...login, userId, secondFactor: null, policies }, origin);
      });
    },
  };
}
