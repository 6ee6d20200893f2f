import type { PasswordHash } from './password-hash.js';

/**
 * The smallest costs that OWASP's Password Storage Cheat Sheet recommends, by algorithm. Where it names several
 * settings of equal strength, one of them is enough. The measures are those of `PasswordHash.cost`. OWASP recommends
 * none of the other algorithms, whatever they cost.
 */
const minimumCosts: Readonly<Record<string, readonly Readonly<Record<string, number>>[]>> = {
  argon2id: [
    { kibibytes: 47_104, passes: 1 },
    { kibibytes: 19_456, passes: 2 },
    { kibibytes: 12_288, passes: 3 },
    { kibibytes: 9216, passes: 4 },
    { kibibytes: 7168, passes: 5 },
  ],
  // N = 2^17 to 2^13 with r = 8 and p = 1, 2, 3, 5 and 10.
  scrypt: [
    { kibibytes: 131_072, blocks: 1_048_576 },
    { kibibytes: 65_536, blocks: 1_048_576 },
    { kibibytes: 32_768, blocks: 786_432 },
    { kibibytes: 16_384, blocks: 655_360 },
    { kibibytes: 8192, blocks: 655_360 },
  ],
  bcrypt: [{ logRounds: 10 }],
  'pbkdf2-sha1': [{ rounds: 1_300_000 }],
  'pbkdf2-sha256': [{ rounds: 600_000 }],
  'pbkdf2-sha512': [{ rounds: 210_000 }],
};

/** Whether a hash costs less than OWASP recommends, or has an algorithm that OWASP does not recommend. */
export function isWeak({ algorithm, cost }: Pick<PasswordHash, 'algorithm' | 'cost'>): boolean {
  const enough = minimumCosts[algorithm] ?? [];
  return !enough.some((minimum) => Object.entries(minimum).every(([measure, least]) => (cost[measure] ?? 0) >= least));
}
