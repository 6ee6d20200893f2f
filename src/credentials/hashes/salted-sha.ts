import { createHash } from 'node:crypto';
import { randomBase64, readAnyBase64, readBase64, writeBase64, zeroBase64 } from './base64.js';
import { checkLength, type HashFormat, type PasswordHash } from './password-hash.js';

/** The bytes of each digest. */
const digests: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };
const saltLength = { min: 1, max: 64 };

const ldapForm = /^\{SSHA(256|384|512)?\}([A-Za-z0-9+/_-]+={0,2})$/i;
const storedForm = /^\$ssha-(sha1|sha256|sha384|sha512)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * One SHA of the password and a salt, as in LDAP directories: `{SSHA}`, `{SSHA256}`, `{SSHA384}` or `{SSHA512}`, and base64
 * of the digest and the salt. It is stored as `$ssha-sha256$salt$hash`.
 */
export const saltedSha: HashFormat = {
  parse: (text) => parseLdap(text) ?? parseStored(text),
  dummyHash: (scheme) => `${scheme}$${randomBase64(8)}$${randomBase64(digests[scheme.slice('$ssha-'.length)] ?? 0)}`,
};

function parseLdap(text: string): PasswordHash | undefined {
  const [, bits = '1', encoded] = ldapForm.exec(text) ?? [];
  if (encoded === undefined) return undefined;
  const size = digests[`sha${bits}`] ?? 0;
  const bytes = readAnyBase64(encoded, 'hash', { min: size + saltLength.min, max: size + saltLength.max });
  return bytes && create(`sha${bits}`, bytes.subarray(size), bytes.subarray(0, size));
}

function parseStored(text: string): PasswordHash | undefined {
  const [, digest = '', saltText = '', outputText = ''] = storedForm.exec(text) ?? [];
  const size = digests[digest];
  if (size === undefined) return undefined;
  const salt = readBase64(saltText, 'salt', saltLength);
  const output = readBase64(outputText, 'hash', { min: size, max: size });
  return salt && output && create(digest, salt, output);
}

function create(digest: string, salt: Buffer, output: Buffer): PasswordHash {
  checkLength('salt', salt.length, saltLength);
  const scheme = `$ssha-${digest}`;
  return {
    algorithm: 'ssha',
    cost: {},
    scheme,
    stored: `${scheme}$${writeBase64(salt)}$${writeBase64(output)}`,
    withoutOutput: `${scheme}$${writeBase64(salt)}$${zeroBase64(output.length)}`,
    output,
    derive: async (password) => createHash(digest).update(password).update(salt).digest(),
  };
}
