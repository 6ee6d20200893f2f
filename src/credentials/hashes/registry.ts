import { argon2 } from './argon2.js';
import { bcrypt, wordPress } from './bcrypt.js';
import { HashLengthError, type PasswordHash } from './password-hash.js';
import { pbkdf2 } from './pbkdf2.js';
import { phpass } from './phpass.js';
import { saltedSha } from './salted-sha.js';
import { firebaseScrypt, scrypt } from './scrypt.js';
import { shaCrypt } from './sha-crypt.js';
import { parseWrapped, type StoredHash, wrappedDummy } from './wrapped.js';

/** All formats of password hashes that Postern can verify. New hashes have the first format. */
const formats = [argon2, bcrypt, wordPress, scrypt, firebaseScrypt, pbkdf2, phpass, shaCrypt, saltedSha];

/** Parses a hash of this or another system. @returns undefined if no format is that of the text */
export function readHash(text: string): PasswordHash | HashLengthError | undefined {
  try {
    for (const format of formats) {
      const hash = format.parse(text);
      if (hash !== undefined) return hash;
    }
    return undefined;
  } catch (error) {
    if (error instanceof HashLengthError) return error;
    throw error;
  }
}

/** Parses a stored hash. Returns undefined if Postern cannot verify it. */
export function parseHash(text: string): StoredHash | undefined {
  return parseWrapped(text, parsePlain) ?? parsePlain(text);
}

function parsePlain(text: string): PasswordHash | undefined {
  const hash = readHash(text);
  return hash instanceof HashLengthError ? undefined : hash;
}

/** Returns a dummy hash with this scheme. No password matches it. Returns undefined if the scheme is unknown. */
export function dummyHashFor(scheme: string): string | undefined {
  const wrapped = wrappedDummy(scheme, {
    outer: argon2.dummyHash,
    inner: (each) => parsePlain(dummyHashFor(each) ?? ''),
  });
  const texts = [...formats.map((format) => format.dummyHash(scheme)), wrapped];
  return texts.find((text) => parseHash(text)?.scheme === scheme);
}
