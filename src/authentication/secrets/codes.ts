import { randomBytes, randomInt } from 'node:crypto';
import type { SecretKeys } from '../../lib/secret-keys.js';

/** Seconds that a login's code is good for (ASVS 6.5: codes live minutes, not hours). */
export const codeLifetime = 300;

/** Six digits from a cryptographic source, each code as likely as any other. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
}

/** Crockford's base32: no letter of it is read as another. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** 60 random bits: more than guesses can find (ASVS 6.5 wants 20 for codes that are rate limited), few enough to copy. */
const length = 12;

/** A code for what lives longer than minutes. */
export function newLongCode(): string {
  // 256 is a multiple of 32, so every character is as likely.
  const characters = [...randomBytes(length)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return characters.replace(/.{4}(?=.)/g, '$&-');
}

/** However it was copied: in capitals, without the hyphens, with an O for a zero. */
export function canonicalLongCode(code: string): string {
  return code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
}

const bound = (purpose: string, code: string) => `${purpose}:${code}`;

/**
 * What to keep of a code, in base64. Six digits are soon tried out: only a keyed digest keeps a stolen database from
 * showing them.
 * @param purpose what the code is good for, and nothing else: an id, with what else must still be so
 */
export function codeDigest(keys: SecretKeys, purpose: string, code: string): string {
  return keys.digest('code', bound(purpose, code)).toString('base64');
}

/** Compares in constant time. */
export function codeMatches(keys: SecretKeys, purpose: string, code: string, digest: string): boolean {
  return keys.matches('code', bound(purpose, code), Buffer.from(digest, 'base64'));
}
