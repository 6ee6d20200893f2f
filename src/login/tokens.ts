import type { Database } from '../database/database.js';
import type { ParsedToken } from '../lib/crypto/token-strings.js';
import { parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import type { DpopVerifier, TokenUse } from '../sessions/dpop/dpop-verifier.js';
import { type AuthenticationStatus, endAuthentication, findAuthenticationStatus } from './authentications.js';

/** Authentication tokens after their login: status and logout. */
export interface Tokens {
  /** @throws Problem `not_found` for an unknown, deleted or superseded id. */
  status(id: string): Promise<{ id: string; status: AuthenticationStatus }>;
  /**
   * Ends a token of this user, on any device, with all its sessions.
   * @throws Problem `no_active_token`
   */
  remove(userId: string, id: string, origin: Origin): Promise<{ id: string }>;
  /**
   * Ends the token that authorizes the request. A token that is bound to a key needs a DPoP proof.
   * @throws Problem `no_active_token`, `invalid_dpop_proof`, `use_dpop_nonce`
   */
  removeHeld(token: ParsedToken, use: TokenUse): Promise<{ id: string }>;
}

/** Creates the status and the logout of authentication tokens. */
export function createTokens(database: Database, dpopVerifier: Pick<DpopVerifier, 'requireDpopProof'>): Tokens {
  return {
    async status(text) {
      const id = parseId(text);
      const status = id === undefined ? undefined : await findAuthenticationStatus(database, id);
      if (status === undefined) throw new Problem('not_found');
      return status;
    },
    async remove(userId, text, origin) {
      const id = parseId(text);
      const isEnded = id !== undefined && (await endAuthentication(database.user(userId), { userId, id }, origin));
      if (!isEnded) throw new Problem('no_active_token');
      return { id };
    },
    async removeHeld(token, use) {
      const { ids, digest } = token;
      const [userId = '', id = ''] = ids;
      await dpopVerifier.requireDpopProof(token, use);
      const isEnded = await endAuthentication(database.user(userId), { userId, id, digest }, use.origin);
      if (!isEnded) throw new Problem('no_active_token');
      return { id };
    },
  };
}
