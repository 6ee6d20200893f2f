import { argon2 } from './argon2.js';
import { bcrypt } from './bcrypt.js';
import type { PasswordHash } from './password-hash.js';
import { pbkdf2 } from './pbkdf2.js';
import { scrypt } from './scrypt.js';

/** All formats of password hashes that Postern can verify. New hashes have the first format. */
const formats = [argon2, bcrypt, scrypt, pbkdf2];

/** Parses a stored hash. Returns undefined if Postern cannot verify it. */
export function parseHash(text: string): PasswordHash | undefined {
  for (const format of formats) {
    const hash = format.parse(text);
    if (hash !== undefined) return hash;
  }
  return undefined;
}

/** Returns a dummy hash with this scheme. No password matches it. Returns undefined if the scheme is unknown. */
export function dummyHashFor(scheme: string): string | undefined {
  return formats.map((format) => format.dummyHash(scheme)).find((text) => parseHash(text)?.scheme === scheme);
}
