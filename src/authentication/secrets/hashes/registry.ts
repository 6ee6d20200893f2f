import { argon2 } from './argon2.js';
import { bcrypt } from './bcrypt.js';
import type { PasswordHash } from './password-hash.js';
import { pbkdf2 } from './pbkdf2.js';
import { scrypt } from './scrypt.js';

/** Every kind of password hash that can be verified; today's first. */
const kinds = [argon2, bcrypt, scrypt, pbkdf2];

/** Undefined: of no kind that can be verified. */
export function parseHash(text: string): PasswordHash | undefined {
  for (const kind of kinds) {
    const hash = kind.parse(text);
    if (hash !== undefined) return hash;
  }
  return undefined;
}

/** The text of a hash with this scheme that no password has; undefined for a scheme that is of no kind. */
export function standInFor(scheme: string): string | undefined {
  return kinds.map((kind) => kind.standIn(scheme)).find((text) => parseHash(text)?.scheme === scheme);
}
