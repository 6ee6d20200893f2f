import { normalizeCode } from '../credentials/codes.js';
import { consumeAssertion, passkeyDescriptors } from '../credentials/factors/passkeys.js';
import {
  newPasskeyChallenge,
  parseAssertion,
  passkeyLifetime,
  type RelyingParty,
} from '../credentials/factors/relying-party.js';
import { redeemRecoveryCode } from '../credentials/factors/second-factor.js';
import { useTotpCode } from '../credentials/factors/totp.js';
import type { Database } from '../database/database.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { OneStepProof, TwoStepProof } from './proofs.js';

/**
 * The proof with the authenticator app: the user sends a code of the app or, if the app is lost, a recovery code. Each code
 * is accepted once.
 */
export function totpProof(parts: { readonly database: Database; readonly keys: SecretKeys }): OneStepProof {
  return {
    type: 'totp',
    steps: 1,
    verify: async ({ userId }, secret, origin) =>
      /^\d{6}$/.test(normalizeCode(secret))
        ? toAnswer(await useTotpCode(parts.database, parts.keys, userId, secret))
        : (await redeemRecoveryCode(parts, userId, secret, origin)) !== undefined,
  };
}

const toAnswer = (result: Awaited<ReturnType<typeof useTotpCode>>) =>
  result === 'used' ? ('used_code' as const) : result === 'right';

/**
 * The proof with a passkey. It requires user verification, such as a fingerprint: the device alone is not enough, because
 * it may be lost or unattended.
 */
export function passkeyProof(parts: {
  readonly database: Database;
  readonly relyingParty: RelyingParty;
}): TwoStepProof {
  const { database, relyingParty } = parts;
  const verification = 'required';
  return {
    type: 'passkey',
    steps: 2,
    starts: ['passkey'],
    async begin({ userId, hasPasskey }) {
      if (!hasPasskey) return undefined;
      const challenge = newPasskeyChallenge();
      const allowedPasskeys = await passkeyDescriptors(database.user(userId), userId);
      const options = relyingParty.requestOptions(challenge, verification, allowedPasskeys);
      return { state: { challenge }, lifetime: passkeyLifetime, challenge: options };
    },
    async verify({ userId }, { state: { challenge }, secret, origin }) {
      const assertion = parseAssertion(secret);
      if (assertion === undefined || challenge === undefined) return false;
      return (await consumeAssertion(parts, assertion, { userId, challenge, verification, origin })) !== undefined;
    },
  };
}
