import type { Database } from '../../database/database.js';
import { useAssertion } from '../factors/passkeys.js';
import { newPasskeyChallenge, parseAssertion, passkeyLifetime, type RelyingParty } from '../factors/relying-party.js';
import type { SelfNaming } from './authenticator.js';

/**
 * A passkey (WebAuthn), which says itself whose it is. With its owner verified it is two factors in one. The challenge
 * belongs to its authentication and is used up when that is decided.
 */
export function passkeyAuthenticator(parts: {
  readonly database: Database;
  readonly relyingParty: RelyingParty;
}): SelfNaming {
  const { userVerification, requestOptions } = parts.relyingParty;
  return {
    name: 'passkey',
    steps: 2,
    namesUser: true,
    async begin() {
      const challenge = newPasskeyChallenge();
      const options = requestOptions(challenge, userVerification);
      return { kept: { challenge }, lifetime: passkeyLifetime, shown: { type: 'passkey', ...options } };
    },
    async identify({ kept, secret, origin }) {
      const assertion = parseAssertion(secret);
      const userId = assertion?.userId;
      const { challenge } = kept;
      if (assertion === undefined || userId === undefined || challenge === undefined) return undefined;
      const used = await useAssertion(parts, assertion, { userId, challenge, verification: userVerification, origin });
      return used === undefined ? undefined : { userId, isMultiFactor: used.userVerified };
    },
  };
}
