import type { SecretKeys } from '../../lib/crypto/secret-keys.js';

/**
 * The nonces of DPoP proofs (RFC 9449, 8): the time of the database in whole seconds, a dot, and its HMAC. Every instance
 * can check a nonce without a look-up, and a client whose clock is wrong can read the time.
 */
export interface ProofNonces {
  /** @param time seconds since 1970, by the clock of the database */
  create(time: number): string;
  /** The time of a nonce; undefined for any other text. */
  timeOf(nonce: string): number | undefined;
}

/** Creates nonces with the secret keys. */
export function createProofNonces(keys: Pick<SecretKeys, 'digest' | 'matches'>): ProofNonces {
  return {
    create(time) {
      const seconds = String(Math.floor(time));
      return `${seconds}.${keys.digest('dpop', seconds).toString('base64url')}`;
    },
    timeOf(nonce) {
      const [, seconds, digest] = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/.exec(nonce) ?? [];
      if (seconds === undefined || digest === undefined) return undefined;
      return keys.matches('dpop', seconds, Buffer.from(digest, 'base64url')) ? Number(seconds) : undefined;
    },
  };
}
