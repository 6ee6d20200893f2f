import { verifyAssertion } from '../../credentials/factors/passkeys.js';
import {
  newPasskeyChallenge,
  parseAssertion,
  passkeyLifetime,
  type RelyingParty,
} from '../../credentials/factors/relying-party.js';
import type { Database } from '../../database/database.js';
import type { UserIdentifying } from './authenticator.js';

/**
 * A passkey (WebAuthn), which identifies its user. With user verification it counts as two factors. The challenge
 * belongs to its authentication, and can no longer be used when the authentication is decided.
 */
export function passkeyAuthenticator(parts: {
  readonly database: Database;
  readonly relyingParty: RelyingParty;
}): UserIdentifying {
  const { userVerification, requestOptions } = parts.relyingParty;
  return {
    name: 'passkey',
    steps: 2,
    namesUser: true,
    findMissing: async ({ hasPasskey }) => (hasPasskey ? undefined : 'passkey'),
    async begin() {
      const challenge = newPasskeyChallenge();
      const options = requestOptions(challenge, userVerification);
      return { state: { challenge }, lifetime: passkeyLifetime, clientChallenge: { type: 'passkey', ...options } };
    },
    async identify({ state, secret, origin }) {
      const assertion = parseAssertion(secret);
      const userId = assertion?.userId;
      const { challenge } = state;
      if (assertion === undefined || userId === undefined || challenge === undefined) return undefined;
      const expected = { userId, challenge, verification: userVerification, origin };
      const verified = await verifyAssertion(parts, assertion, expected);
      return verified && { userId, isMultiFactor: verified.userVerified, consume: verified.saveCounter };
    },
  };
}
