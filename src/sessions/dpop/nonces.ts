import type { SecretKeys } from '../../lib/crypto/secret-keys.js';

/**
 * The nonces of DPoP proofs (RFC 9449, section 8). A nonce consists of the time of the database in whole seconds, a
 * dot, and the HMAC of this time and the user. So a nonce of one user is none for another. Every instance can verify a
 * nonce without a look-up. A client whose clock is wrong can read the right time from a nonce.
 */
export interface DpopNonces {
  /** Creates the user's nonce of a time. @param time seconds since 1970, by the clock of the database */
  create(userId: string, time: number): string;
  /** Reads the time of a nonce. Undefined if this service has not made the nonce for this user. */
  timeOf(userId: string, nonce: string): number | undefined;
}

/** Creates the functions that make and verify nonces, with the secret keys. */
export function createDpopNonces(keys: Pick<SecretKeys, 'digest' | 'matches'>): DpopNonces {
  return {
    create(userId, time) {
      const seconds = String(Math.floor(time));
      return `${seconds}.${keys.digest('dpop', `${userId} ${seconds}`).toString('base64url')}`;
    },
    timeOf(userId, nonce) {
      const [, seconds, digest] = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/.exec(nonce) ?? [];
      if (seconds === undefined || digest === undefined) return undefined;
      const isOurs = keys.matches('dpop', `${userId} ${seconds}`, Buffer.from(digest, 'base64url'));
      return isOurs ? Number(seconds) : undefined;
    },
  };
}
