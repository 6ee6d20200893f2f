import type { FieldError } from '../lib/problem.js';
import { HashLengthError } from './hashes/password-hash.js';
import { readHash } from './hashes/registry.js';

/** The limits for every variant of argon2. */
const argon2 = { kibibytes: 131_072, passes: 10, lanes: 4 };

/**
 * The maximum cost of one verification, by algorithm: about half a second of one core, and 128 MiB. These limits allow the
 * recommendations of OWASP's Password Storage Cheat Sheet, and Django's defaults up to version 6.1. Every failed login
 * pays this cost for each imported scheme (`password-schemes.ts`), whose sum has its own limit.
 */
const maxCosts: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  argon2id: argon2,
  argon2i: argon2,
  argon2d: argon2,
  bcrypt: { logRounds: 13 },
  // `blocks` is N·r·p: the limit is that of N = 2^17, r = 8, p = 1.
  scrypt: { kibibytes: 131_072, blocks: 1_048_576 },
  'pbkdf2-sha1': { rounds: 1_500_000 },
  'pbkdf2-sha256': { rounds: 1_500_000 },
  'pbkdf2-sha512': { rounds: 500_000 },
  'sha256-crypt': { rounds: 250_000 },
  'sha512-crypt': { rounds: 200_000 },
  phpass: { logRounds: 17 },
  ssha: {},
};

/** The measures as their algorithms name them. */
const names: Readonly<Record<string, string>> = {
  kibibytes: 'memory (KiB)',
  passes: 't',
  lanes: 'p',
  logRounds: 'log2(rounds)',
  blocks: 'N·r·p',
  rounds: 'rounds',
};

/**
 * Why a password hash of another system cannot be imported: its format, the length of a part, or its cost, with the
 * figure. Undefined if it can.
 */
export function importedHashError(text: string): Omit<FieldError, 'field'> | undefined {
  const hash = readHash(text);
  if (hash === undefined) return { code: 'invalid_hash' };
  if (hash instanceof HashLengthError) {
    const { part, length, allowed } = hash;
    return { code: 'invalid_hash_length', params: { part, length, ...allowed } };
  }
  const limits = maxCosts[hash.algorithm] ?? {};
  for (const [measure, value] of Object.entries(hash.cost)) {
    const max = limits[measure] ?? 0;
    if (value > max) return { code: 'hash_too_expensive', params: { measure: names[measure] ?? measure, value, max } };
  }
  return undefined;
}
