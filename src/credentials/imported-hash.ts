import { parseHash } from './hashes/registry.js';

/** The limits for every variant of argon2. */
const argon2 = { kibibytes: 65_536, passes: 10, lanes: 4 };

/**
 * The maximum cost of one verification, by algorithm: about a quarter of a second of one core, and 64 MiB. These limits
 * allow the recommendations of OWASP's Password Storage Cheat Sheet, and Django's defaults up to version 6.0. Every
 * failed login pays this cost for each imported scheme (`password-schemes.ts`).
 */
const maxCosts: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  argon2id: argon2,
  argon2i: argon2,
  argon2d: argon2,
  bcrypt: { logRounds: 12 },
  // `blocks` is N·r·p: the limit is that of N = 2^15, r = 8, p = 3.
  scrypt: { kibibytes: 65_536, blocks: 786_432 },
  'pbkdf2-sha1': { rounds: 1_300_000 },
  'pbkdf2-sha256': { rounds: 1_200_000 },
  'pbkdf2-sha512': { rounds: 500_000 },
};

/** Whether a password hash from another system can be imported: its format is supported and its cost is within bounds. */
export function isUsableHash(text: string): boolean {
  const hash = parseHash(text);
  if (hash === undefined) return false;
  const max = maxCosts[hash.algorithm] ?? {};
  return Object.entries(hash.cost).every(([measure, value]) => value <= (max[measure] ?? 0));
}
