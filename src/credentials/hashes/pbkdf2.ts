import { pbkdf2 as pbkdf2WithCallback, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { randomBase64, readBase64 } from './base64.js';
import type { HashFormat, PasswordHash } from './password-hash.js';

const derive = promisify(pbkdf2WithCallback);

/** Output lengths in bytes. A longer output is refused: it would multiply the cost of the rounds. */
const digests = { sha1: 20, sha256: 32, sha512: 64 } as const;
type Digest = keyof typeof digests;

const saltLength = { min: 1, max: 64 };

const passlibForm = /^\$pbkdf2(-sha256|-sha512)?\$([1-9]\d{0,8})\$([A-Za-z0-9./]+)\$([A-Za-z0-9./]+)$/;
const djangoForm = /^pbkdf2_(sha1|sha256)\$([1-9]\d{0,8})\$([!-#%-~]{1,64})\$([A-Za-z0-9+/]+)=$/;

/**
 * PBKDF2 (RFC 8018) with HMAC, in two formats:
 * - passlib: `$pbkdf2-sha256$29000$salt$hash`, `$pbkdf2-sha512$…`, and `$pbkdf2$…` for SHA-1; base64 with `.` for `+`.
 * - Django: `pbkdf2_sha256$1000000$salt$hash`, `pbkdf2_sha1$…`; the salt is text.
 */
export const pbkdf2: HashFormat = {
  parse: (text) => parsePasslib(text) ?? parseDjango(text),
  dummyHash: (scheme) => `${scheme}$${randomBase64(16)}$${randomBase64(outputBytes(scheme))}`.replaceAll('+', '.'),
};

function parsePasslib(text: string): PasswordHash | undefined {
  const [, name = '-sha1', rounds, saltText = '', outputText = ''] = passlibForm.exec(text) ?? [];
  const digest = name.slice(1) as Digest;
  const salt = readBase64(saltText.replaceAll('.', '+'), saltLength);
  return salt === undefined ? undefined : create(digest, Number(rounds), salt, outputText.replaceAll('.', '+'));
}

function parseDjango(text: string): PasswordHash | undefined {
  const [, digest, rounds, salt = '', outputText = ''] = djangoForm.exec(text) ?? [];
  return digest === undefined
    ? undefined
    : create(digest as Digest, Number(rounds), Buffer.from(salt, 'utf8'), outputText);
}

function create(digest: Digest, rounds: number, salt: Buffer, outputText: string): PasswordHash | undefined {
  const size = digests[digest];
  const output = readBase64(outputText, { min: size, max: size });
  if (output === undefined) return undefined;
  return {
    algorithm: `pbkdf2-${digest}`,
    cost: { rounds },
    scheme: `$pbkdf2${digest === 'sha1' ? '' : `-${digest}`}$${rounds}`,
    verify: async (password) => timingSafeEqual(await derive(password, salt, rounds, size, digest), output),
  };
}

function outputBytes(scheme: string): number {
  const [, digest = 'sha1'] = /^\$pbkdf2-(sha256|sha512)\$/.exec(scheme) ?? [];
  return digests[digest as Digest];
}
