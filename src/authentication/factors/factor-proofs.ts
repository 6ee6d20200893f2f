import type { Database } from '../../database/database.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import type { BegunProof, InstantProof } from '../self-service/proofs.js';
import { passkeyDescriptors, useAssertion } from './passkeys.js';
import { newPasskeyChallenge, parseAssertion, passkeyLifetime, type RelyingParty } from './relying-party.js';
import { spendRecoveryCode } from './second-factor.js';
import { useTotpCode } from './totp.js';

/** A code of the app, which is used up by it; for who has lost the app, a recovery code. */
export function totpProof(parts: { readonly database: Database; readonly keys: SecretKeys }): InstantProof {
  return {
    type: 'totp',
    steps: 1,
    verify: async ({ userId }, secret, origin) =>
      /^\d{6}$/.test(secret)
        ? useTotpCode(parts.database, parts.keys, userId, secret)
        : (await spendRecoveryCode(parts, userId, secret, origin)) !== undefined,
  };
}

/** A passkey that verifies its owner: a phone that was left on a table has it too. */
export function passkeyProof(parts: { readonly database: Database; readonly relyingParty: RelyingParty }): BegunProof {
  const { database, relyingParty } = parts;
  const verification = 'required';
  return {
    type: 'passkey',
    steps: 2,
    starts: ['passkey'],
    async begin({ userId, hasPasskey }) {
      if (!hasPasskey) return undefined;
      const challenge = newPasskeyChallenge();
      const allowed = await passkeyDescriptors(database.lane(userId), userId);
      const options = relyingParty.requestOptions(challenge, verification, allowed);
      return { kept: { challenge }, lifetime: passkeyLifetime, challenge: options };
    },
    async verify({ userId }, { kept: { challenge }, secret, origin }) {
      const assertion = parseAssertion(secret);
      if (assertion === undefined || challenge === undefined) return false;
      return (await useAssertion(parts, assertion, { userId, challenge, verification, origin })) !== undefined;
    },
  };
}
