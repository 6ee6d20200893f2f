import { parseHash } from './hashes/registry.js';

/** argon2, of whatever variant. */
const argon2 = { kibibytes: 65_536, passes: 10, lanes: 4 };

/**
 * The most that one verification may cost, by algorithm: about a quarter of a second of a core, and 64 MiB. What OWASP's
 * Password Storage Cheat Sheet recommends within that is allowed, and the defaults of Django up to 6.0. Logins pay it,
 * failed ones for each scheme that was imported (`password-schemes.ts`).
 */
const bounds: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  argon2id: argon2,
  argon2i: argon2,
  argon2d: argon2,
  bcrypt: { logRounds: 12 },
  // N·r·p: as much as N = 2^15, r = 8, p = 3.
  scrypt: { kibibytes: 65_536, blocks: 786_432 },
  'pbkdf2-sha1': { rounds: 1_300_000 },
  'pbkdf2-sha256': { rounds: 1_200_000 },
  'pbkdf2-sha512': { rounds: 500_000 },
};

/** Whether a password hash of another system can be used: of a kind that can be verified, and not too dear to verify. */
export function isUsableHash(text: string): boolean {
  const hash = parseHash(text);
  if (hash === undefined) return false;
  const most = bounds[hash.algorithm] ?? {};
  return Object.entries(hash.cost).every(([measure, value]) => value <= (most[measure] ?? 0));
}
