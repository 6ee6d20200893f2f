import type { PasswordHash } from './hashes/password-hash.js';
import { parseHash, standInFor } from './hashes/registry.js';

type Cost = PasswordHash['cost'];

/** What one verification of today's hash does: 19 MiB, two passes. */
const todays = 19_456 * 2;
const argon2 = ({ kibibytes = 0, passes = 0 }: Cost) => (kibibytes * passes) / todays;

/**
 * What one verification costs by algorithm, in verifications of today's hash. Measured once, on one core of a server: today's
 * took 9 ms. The figure is the same on every machine, so that each instance decides alike.
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
};

/**
 * What a scheme adds to every failed login, in verifications of Postern's own hash (about 10 ms of a core), in tenths rounded
 * up. A scheme that cannot be read costs 1: its stand-in is today's hash.
 */
export function schemeCost(scheme: string): number {
  const hash = parseHash(standInFor(scheme) ?? '');
  const cost = hash === undefined ? 1 : (costs[hash.algorithm]?.(hash.cost) ?? 1);
  return Math.max(1, Math.ceil(cost * 10)) / 10;
}

/** The cost of several schemes together. */
export function costOfAll(schemes: Iterable<string>): number {
  // Tenths are added as whole numbers: sums of fractions would not be exact.
  return [...schemes].reduce((sum, scheme) => sum + Math.round(schemeCost(scheme) * 10), 0) / 10;
}
