import { randomBytes, randomInt } from 'node:crypto';
import { withAsciiDigits } from '../identities/digits.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { FieldError } from '../lib/problem.js';

/** Seconds that a code is accepted (ASVS 5.0, 6.5: minutes, not hours). */
export const codeLifetime = 300;

/** Six digits from a cryptographic source, uniformly distributed. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
}

/** The letters and digits of a typed or pasted code, without spaces, line ends, hyphens and invisible marks. */
const lettersAndDigits = (typed: string) => withAsciiDigits(typed).replaceAll(/[^\p{L}\p{N}]/gu, '');

/**
 * The six digits of a typed or pasted code, in any notation: `123 456`, `123-456`, full-width digits. Any other text is
 * returned unchanged.
 */
export function normalizeCode(typed: string): string {
  const digits = typed.length > maxTypedLength ? '' : lettersAndDigits(typed);
  return /^\d{6}$/.test(digits) ? digits : typed;
}

/** UTF-16 code units. A longer text, such as a passkey's answer, is no code. */
const maxTypedLength = 64;

/** Crockford's base32: no two of its characters look alike. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** 60 random bits: not guessable (ASVS 5.0, 6.5, asks for 20 with a rate limit), and short enough to copy by hand. */
const length = 12;

/** A code that is accepted for longer than minutes, such as a recovery code. */
export function newLongCode(): string {
  // 256 is a multiple of 32, so every character is equally likely.
  const characters = [...randomBytes(length)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return characters.replace(/.{4}(?=.)/g, '$&-');
}

/** Normalizes a typed code: any notation of its letters and digits, O for 0, I and L for 1. */
export function normalizeLongCode(code: string): string {
  return lettersAndDigits(code).toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');
}

const digestInput = (purpose: string, code: string) => `${purpose}:${normalizeCode(code)}`;

/**
 * The digest of a code to store, in base64. It is keyed, because an attacker can find six digits from a plain digest by trying all of them.
 * @param purpose what the code is valid for: an id, and the values that must not change before its use
 */
export function codeDigest(keys: SecretKeys, purpose: string, code: string): string {
  return keys.digest('code', digestInput(purpose, code)).toString('base64');
}

/** Compares in constant time. */
export function codeMatches(keys: SecretKeys, purpose: string, code: string, digest: string): boolean {
  return keys.matches('code', digestInput(purpose, code), Buffer.from(digest, 'base64'));
}

/** The error of a right code of an authenticator app that was used before. Only for callers who have proved the first factor. */
export const usedCode = (field: string): { readonly errors: readonly FieldError[] } => ({
  errors: [{ field, code: 'code_used' }],
});
