import type { Database } from '../database/database.js';
import { parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import type { ParsedToken } from '../lib/token-strings.js';
import { type AuthenticationStatus, endAuthentication, findAuthenticationStatus } from './authentications.js';

/** Authentication tokens after their login: asking for a status, logging out. */
export interface Tokens {
  /** @throws Problem `not_found` for an unknown, deleted or superseded id. */
  status(id: string): Promise<{ id: string; status: AuthenticationStatus }>;
  /**
   * Ends a token of this user, on whatever device it is; its sessions end with it.
   * @throws Problem `no_active_token`
   */
  remove(userId: string, id: string, origin: Origin): Promise<{ id: string }>;
  /** Ends the token that is itself the credential. @throws Problem `no_active_token` */
  removeHeld(token: ParsedToken, origin: Origin): Promise<{ id: string }>;
}

export function createTokens(database: Database): Tokens {
  return {
    async status(text) {
      const id = parseId(text);
      const found = id === undefined ? undefined : await findAuthenticationStatus(database, id);
      if (found === undefined) throw new Problem('not_found');
      return found;
    },
    async remove(userId, text, origin) {
      const id = parseId(text);
      if (id === undefined || !(await endAuthentication(database.lane(userId), { userId, id }, origin))) {
        throw new Problem('no_active_token');
      }
      return { id };
    },
    async removeHeld({ ids: [userId = '', id = ''], digest }, origin) {
      if (!(await endAuthentication(database.lane(userId), { userId, id, digest }, origin)))
        throw new Problem('no_active_token');
      return { id };
    },
  };
}
