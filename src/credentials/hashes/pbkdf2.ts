import { pbkdf2 as pbkdf2WithCallback } from 'node:crypto';
import { promisify } from 'node:util';
import { isJsonObject, parseJsonObject } from '../../lib/json-object.js';
import { randomBase64, readAnyBase64, readBase64, writeBase64, zeroBase64 } from './base64.js';
import { checkLength, type HashFormat, type PasswordHash } from './password-hash.js';

const derive = promisify(pbkdf2WithCallback);

/** The bytes that one digest returns. */
const digests = { sha1: 20, sha256: 32, sha512: 64 } as const;
type Digest = keyof typeof digests;
const digestNames = ['sha1', 'sha256', 'sha512'] as const satisfies readonly Digest[];

const saltLength = { min: 1, max: 64 };
/** Some systems keep fewer bytes than a digest has, and some several digests: 64 bytes with SHA-256 in Keycloak. */
const outputLength = { min: 16, max: 512 };

const rounds = String.raw`([1-9]\d{0,8})`;
const passlibForm = new RegExp(
  String.raw`^\$pbkdf2(-sha1|-sha256|-sha512)?\$${rounds}\$([A-Za-z0-9./]+)\$([A-Za-z0-9./]+)$`,
);
const phcForm = new RegExp(
  String.raw`^\$pbkdf2-(sha1|sha256|sha512)\$i=${rounds}(?:,l=\d{1,3})?\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$`,
);
const djangoForm = new RegExp(
  String.raw`^pbkdf2_(sha1|sha256|sha512)\$${rounds}\$([!-#%-~]{1,64})\$([A-Za-z0-9+/]+)={0,2}$`,
);

/**
 * PBKDF2 (RFC 8018) with HMAC, in several formats. All are stored in the first one:
 * - passlib: `$pbkdf2-sha256$29000$salt$hash`, `$pbkdf2-sha512$…`, and `$pbkdf2$…` for SHA-1; base64 with `.` for `+`.
 * - PHC string: `$pbkdf2-sha256$i=29000,l=32$salt$hash`.
 * - Django: `pbkdf2_sha256$1000000$salt$hash`, `pbkdf2_sha1$…`; the salt is text.
 * - Keycloak: a credential of an export, as JSON.
 * - ASP.NET Core Identity, version 3: base64 of a marker, the parameters, the salt and the output.
 */
export const pbkdf2: HashFormat = {
  parse: (text) =>
    parsePasslib(text) ?? parsePhc(text) ?? parseDjango(text) ?? parseKeycloak(text) ?? parseAspNet(text),
  dummyHash: (scheme) => `${scheme}$${randomBase64(16)}$${randomBase64(outputBytes(scheme))}`.replaceAll('+', '.'),
};

function parsePasslib(text: string): PasswordHash | undefined {
  const [, name = '-sha1', count, salt = '', output = ''] = passlibForm.exec(text) ?? [];
  if (count === undefined) return undefined;
  return create(name.slice(1) as Digest, Number(count), {
    salt: readBase64(salt.replaceAll('.', '+'), 'salt', saltLength),
    output: readBase64(output.replaceAll('.', '+'), 'hash', outputLength),
  });
}

function parsePhc(text: string): PasswordHash | undefined {
  const [, digest, count, salt = '', output = ''] = phcForm.exec(text) ?? [];
  if (digest === undefined) return undefined;
  return create(digest as Digest, Number(count), {
    salt: readBase64(salt, 'salt', saltLength),
    output: readBase64(output, 'hash', outputLength),
  });
}

function parseDjango(text: string): PasswordHash | undefined {
  const [, digest, count, salt = '', output = ''] = djangoForm.exec(text) ?? [];
  if (digest === undefined) return undefined;
  return create(digest as Digest, Number(count), {
    salt: Buffer.from(salt, 'utf8'),
    output: readBase64(output, 'hash', outputLength),
  });
}

/** A credential of Keycloak: its data and secret are objects, or JSON texts as in an export. */
function parseKeycloak(text: string): PasswordHash | undefined {
  const credential = text.startsWith('{') ? (parseJsonObject(text) ?? {}) : {};
  const data = objectOf(credential.credentialData);
  const { value, salt } = objectOf(credential.secretData);
  const { hashIterations: count, algorithm } = data;
  const digest = digestNames.find(
    (name) => algorithm === `pbkdf2-${name}` || (name === 'sha1' && algorithm === 'pbkdf2'),
  );
  if (digest === undefined || typeof value !== 'string' || typeof salt !== 'string') return undefined;
  if (typeof count !== 'number' || !/^[1-9]\d{0,8}$/.test(String(count))) return undefined;
  return create(digest, count, {
    salt: readAnyBase64(salt, 'salt', saltLength),
    output: readAnyBase64(value, 'hash', outputLength),
  });
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'string') return parseJsonObject(value) ?? {};
  return isJsonObject(value) ? value : {};
}

/** The marker of version 3, the numbers of the digest, the rounds and the length of the salt (each of 4 bytes), salt, output. */
function parseAspNet(text: string): PasswordHash | undefined {
  if (!/^AQAAAA[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  const headerLength = 13;
  if (bytes.length < headerLength) return undefined;
  const digest = digestNames[bytes.readUInt32BE(1)];
  const count = bytes.readUInt32BE(5);
  const saltBytes = bytes.readUInt32BE(9);
  if (digest === undefined || count === 0) return undefined;
  checkLength('salt', saltBytes, saltLength);
  const output = bytes.subarray(headerLength + saltBytes);
  checkLength('hash', output.length, outputLength);
  return create(digest, count, { salt: bytes.subarray(headerLength, headerLength + saltBytes), output });
}

/**
 * Compares only the first digest of the output: it has the full strength, and further ones would multiply the time
 * (RFC 8018, 5.2, computes each by itself). So the length does not change the scheme.
 */
function create(
  digest: Digest,
  count: number,
  { salt, output }: { readonly salt: Buffer | undefined; readonly output: Buffer | undefined },
): PasswordHash | undefined {
  if (salt === undefined || output === undefined) return undefined;
  const compared = output.subarray(0, digests[digest]);
  const scheme = `$pbkdf2${digest === 'sha1' ? '' : `-${digest}`}$${count}`;
  return {
    algorithm: `pbkdf2-${digest}`,
    cost: { rounds: count },
    scheme,
    stored: `${scheme}$${writeBase64(salt)}$${writeBase64(output)}`.replaceAll('+', '.'),
    withoutOutput: `${scheme}$${writeBase64(salt).replaceAll('+', '.')}$${zeroBase64(compared.length)}`,
    output: compared,
    derive: (password) => derive(password, salt, count, compared.length, digest),
  };
}

function outputBytes(scheme: string): number {
  const [, digest = 'sha1'] = /^\$pbkdf2-(sha256|sha512)\$/.exec(scheme) ?? [];
  return digests[digest as Digest];
}
