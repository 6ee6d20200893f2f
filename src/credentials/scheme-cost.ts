import type { PasswordHash } from './hashes/password-hash.js';
import { dummyHashFor, parseHash } from './hashes/registry.js';

type Cost = PasswordHash['cost'];

/** The work of one verification of the current hash: KiB times passes. */
const currentWork = 19_456 * 2;
const argon2 = ({ kibibytes = 0, passes = 0 }: Cost) => (kibibytes * passes) / currentWork;

/**
 * The cost of one verification by algorithm, in verifications of the current hash. Measured once on one core of a
 * server, where the current hash took 9 ms. The figures are constants, so that all instances decide in the same way.
 */
const costs: Readonly<Record<string, (cost: Cost) => number>> = {
  argon2id: argon2,
  argon2i: argon2,
  argon2d: argon2,
  bcrypt: ({ logRounds = 0 }) => 2 ** logRounds / 170,
  scrypt: ({ blocks = 0 }) => blocks / 32_768,
  'pbkdf2-sha1': ({ rounds = 0 }) => rounds / 47_000,
  'pbkdf2-sha256': ({ rounds = 0 }) => rounds / 52_000,
  'pbkdf2-sha512': ({ rounds = 0 }) => rounds / 19_000,
  'sha256-crypt': ({ rounds = 0 }) => rounds / 7000,
  'sha512-crypt': ({ rounds = 0 }) => rounds / 8000,
  phpass: ({ logRounds = 0 }) => 2 ** logRounds / 12_000,
  ssha: () => 0,
};

/**
 * The cost of a scheme for every failed login, in verifications of Postern's own hash (about 10 ms of one core), rounded
 * up to tenths. A scheme that cannot be parsed costs 1: its dummy hash has the current scheme.
 */
export function schemeCost(scheme: string): number {
  return Math.max(1, Math.ceil(costOf(dummyHashFor(scheme) ?? '') * 10)) / 10;
}

function costOf(text: string): number {
  const hash = parseHash(text);
  if (hash === undefined) return 1;
  const outer = hash.outer === undefined ? 0 : costOf(hash.outer);
  return (costs[hash.algorithm]?.(hash.cost) ?? 1) + outer;
}

/** The total cost of several schemes. */
export function totalSchemeCost(schemes: Iterable<string>): number {
  // Added as whole tenths: sums of fractions are not exact.
  return [...schemes].reduce((sum, scheme) => sum + Math.round(schemeCost(scheme) * 10), 0) / 10;
}
