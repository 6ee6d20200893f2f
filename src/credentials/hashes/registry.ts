import { argon2 } from './argon2.js';
import { bcrypt } from './bcrypt.js';
import type { PasswordHash } from './password-hash.js';
import { pbkdf2 } from './pbkdf2.js';
import { scrypt } from './scrypt.js';

/** All formats of password hashes that can be verified; the current one first. */
const kinds = [argon2, bcrypt, scrypt, pbkdf2];

/** Undefined for a hash that cannot be verified. */
export function parseHash(text: string): PasswordHash | undefined {
  for (const kind of kinds) {
    const hash = kind.parse(text);
    if (hash !== undefined) return hash;
  }
  return undefined;
}

/** A dummy hash with this scheme, which no password matches; undefined for an unknown scheme. */
export function dummyHashFor(scheme: string): string | undefined {
  return kinds.map((kind) => kind.dummyHash(scheme)).find((text) => parseHash(text)?.scheme === scheme);
}
