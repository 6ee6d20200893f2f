import { pinKeyNames, type SecretKeys } from '../../lib/crypto/secret-keys.js';
import type { HashClient, PasswordHasher } from '../passwords.js';

/**
 * Hashes and verifies PINs. A PIN has few digits, so a slow hash alone does not protect it if the database leaks. The
 * input of the hash is an HMAC of the user id and the PIN under SECRET_KEY: a pepper (OWASP Password Storage Cheat
 * Sheet).
 */
export interface Pins {
  /** @returns `k`, a fingerprint of the key, and a PHC string: `k1a2b3c4d$argon2id$…`. */
  hash(userId: string, pin: string, client: HashClient): Promise<string>;
  /** Takes the same time with or without a stored hash. Also false if SECRET_KEY no longer has the key of the hash. */
  verify(stored: string | undefined, userId: string | undefined, pin: string, client: HashClient): Promise<boolean>;
  /** Whether SECRET_KEY has the key of a stored hash. Without it no PIN is correct. */
  isReadable(stored: string): boolean;
}

/** `k` and eight hexadecimal digits. */
const fingerprintLength = 9;

/** Creates the hashing of PINs, with a pepper from the secret keys. */
export function createPins({ hasher, keys }: { hasher: PasswordHasher; keys: SecretKeys }): Pins {
  // The key's fingerprint is stored with the hash, so one argon2 hash is enough even while keys are rotated.
  const fingerprints = pinKeyNames(keys);
  const keyOf = (stored: string | undefined) => fingerprints.indexOf(stored?.slice(0, fingerprintLength) ?? '');
  const peppered = (userId: string, pin: string) =>
    keys.digests('pin', `${userId}:${pin}`).map((digest) => digest.toString('base64'));

  return {
    async hash(userId, pin, client) {
      const [fingerprint = ''] = fingerprints;
      const [input = ''] = peppered(userId, pin);
      return fingerprint + (await hasher.hash(input, client));
    },
    async verify(stored, userId, pin, client) {
      const key = keyOf(stored);
      const input = peppered(userId ?? '', pin)[key] ?? '';
      return hasher.verify(key === -1 ? undefined : stored?.slice(fingerprintLength), input, client);
    },
    isReadable: (stored) => keyOf(stored) !== -1,
  };
}
