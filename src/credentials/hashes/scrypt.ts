import { createCipheriv, type ScryptOptions, scrypt as scryptWithCallback } from 'node:crypto';
import { promisify } from 'node:util';
import { randomBase64, readAnyBase64, readBase64, writeBase64, zeroBase64 } from './base64.js';
import type { HashFormat, PasswordHash } from './password-hash.js';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scryptWithCallback);

const saltLength = { min: 8, max: 48 };
const outputLength = { min: 16, max: 64 };

const phc =
  /^(\$scrypt\$ln=([1-9]|[12]\d|3[01]),r=([1-9]\d{0,3}),p=([1-9]\d{0,3}))\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** The parameters as texts: the binary logarithm of N, the block size and the parallelization. */
function costOf([log, r, p]: readonly (string | undefined)[]) {
  const N = 2 ** Number(log);
  const blockSize = Number(r);
  const parallelization = Number(p);
  return {
    options: { N, r: blockSize, p: parallelization, maxmem: 128 * blockSize * (N + parallelization + 2) },
    cost: { kibibytes: (128 * N * blockSize) / 1024, blocks: N * blockSize * parallelization },
  };
}

/** scrypt (RFC 7914) in passlib's format: `$scrypt$ln=16,r=8,p=1$salt$hash`, where `ln` is log2(N). */
export const scrypt: HashFormat = {
  parse(text) {
    const [, scheme, ln, r, p, saltText = '', outputText = ''] = phc.exec(text) ?? [];
    if (scheme === undefined) return undefined;
    const salt = readBase64(saltText, 'salt', saltLength);
    const output = readBase64(outputText, 'hash', outputLength);
    if (salt === undefined || output === undefined) return undefined;
    const { options, cost } = costOf([ln, r, p]);
    return {
      algorithm: 'scrypt',
      cost,
      scheme,
      stored: text,
      withoutOutput: `${scheme}$${saltText}$${zeroBase64(output.length)}`,
      output,
      derive: (password) => derive(password, salt, output.length, options),
    };
  },
  dummyHash: (scheme) => `${scheme}$${randomBase64(16)}$${randomBase64(32)}`,
};

const firebaseForm =
  /^\$fbscrypt\$v=1,n=([1-9]|[12]\d|3[01]),r=([1-9]\d{0,3}),p=([1-9]\d{0,3}),ss=([^,$]*),sk=([^,$]+)\$([^$]+)\$([^$]+)$/;
const firebaseStored =
  /^\$fbscrypt\$n=([1-9]|[12]\d|3[01]),r=([1-9]\d{0,3}),p=([1-9]\d{0,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)\.([A-Za-z0-9+/]+)$/;
/** The signer key of a project has 64 bytes, and each hash has its length. */
const signerLength = { min: 16, max: 128 };
const separatorLength = { min: 0, max: 32 };
const firebaseSaltLength = { min: 1, max: 80 };

/**
 * The scrypt of Firebase Authentication: the derived key encrypts the signer key of the project. The format is that of
 * Supabase, with the project's parameters: `$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=signerkey$salt$hash`, where n is the
 * memory cost, r the rounds, ss the salt separator and sk the signer key. Base64 may have either alphabet. The keys are
 * no part of the scheme, so it is stored as `$fbscrypt$n=14,r=8,p=1$salt$signerkey.hash`.
 */
export const firebaseScrypt: HashFormat = {
  parse: (text) => parseFirebase(text) ?? parseStoredFirebase(text),
  dummyHash: (scheme) => `${scheme}$${randomBase64(9)}$${randomBase64(64)}.${randomBase64(64)}`,
};

function parseFirebase(text: string): PasswordHash | undefined {
  const [, n, r, p, separatorText = '', signerText = '', saltText = '', outputText = ''] =
    firebaseForm.exec(text) ?? [];
  if (n === undefined) return undefined;
  const separator = readAnyBase64(separatorText, 'salt', separatorLength);
  const signerKey = readAnyBase64(signerText, 'key', signerLength);
  const salt = readAnyBase64(saltText, 'salt', saltLength);
  if (separator === undefined || signerKey === undefined || salt === undefined) return undefined;
  const output = readAnyBase64(outputText, 'hash', { min: signerKey.length, max: signerKey.length });
  return output && createFirebase([n, r, p], { salt: Buffer.concat([salt, separator]), signerKey, output });
}

function parseStoredFirebase(text: string): PasswordHash | undefined {
  const [, n, r, p, saltText = '', signerText = '', outputText = ''] = firebaseStored.exec(text) ?? [];
  if (n === undefined) return undefined;
  const salt = readBase64(saltText, 'salt', firebaseSaltLength);
  const signerKey = readBase64(signerText, 'key', signerLength);
  if (salt === undefined || signerKey === undefined) return undefined;
  const output = readBase64(outputText, 'hash', { min: signerKey.length, max: signerKey.length });
  return output && createFirebase([n, r, p], { salt, signerKey, output });
}

function createFirebase(
  parameters: readonly (string | undefined)[],
  { salt, signerKey, output }: { readonly salt: Buffer; readonly signerKey: Buffer; readonly output: Buffer },
): PasswordHash {
  const [n, r, p] = parameters;
  const scheme = `$fbscrypt$n=${n},r=${r},p=${p}`;
  const { options, cost } = costOf(parameters);
  return {
    algorithm: 'scrypt',
    cost,
    scheme,
    stored: `${scheme}$${writeBase64(salt)}$${writeBase64(signerKey)}.${writeBase64(output)}`,
    withoutOutput: `${scheme}$${writeBase64(salt)}$${writeBase64(signerKey)}.${zeroBase64(output.length)}`,
    output,
    async derive(password) {
      const cipher = createCipheriv('aes-256-ctr', await derive(password, salt, 32, options), Buffer.alloc(16));
      return cipher.update(signerKey);
    },
  };
}
