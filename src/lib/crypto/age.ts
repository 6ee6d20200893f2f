import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto';
import { createByteReader } from '../byte-reader.js';
import { equalBytes } from './secret-keys.js';

// The file format of age with a passphrase, version 1 (https://c2sp.org/age): scrypt, HKDF-SHA256, and chunks of
// ChaCha20-Poly1305, whose nonces number them and mark the last one. The program `age` reads and writes the same files.

const versionLine = 'age-encryption.org/v1';
const scryptLabel = 'age-encryption.org/v1/scrypt';
const chunkBytes = 64 * 1024;
const tagBytes = 16;
const saltBytes = 16;
const fileKeyBytes = 16;
const nonceBytes = 16;
/** The logarithm of the cost of scrypt: 128 MiB, as OWASP recommends. */
const workFactor = 17;
/** The highest cost that a file may ask for: 1 GiB. */
const maxWorkFactor = 20;
/** The maximum length of a line of the header in bytes. The lines of a header for one passphrase are shorter. */
const maxLineBytes = 256;
const newLine = 0x0a;

/** A file cannot be decrypted. */
export class AgeError extends Error {
  /** `passphrase`: it is wrong. `damaged`: the file was cut or changed, or it needs something else than a passphrase. */
  constructor(readonly code: 'passphrase' | 'damaged') {
    super(`age: ${code}`);
  }
}

/** Whether these first bytes of a file are those of age. */
export function isAgeFile(start: Buffer): boolean {
  return start.subarray(0, versionLine.length).toString('latin1') === versionLine;
}

/** Encrypts a stream. */
export type AgeEncryption = (source: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>;

/** Decrypts a stream. It gives only bytes that were not changed, and fails at the end of a file that was cut. @throws AgeError */
export type AgeDecryption = (source: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>;

/**
 * Encrypts several streams with one passphrase. They share the file key, so scrypt runs only once. Each stream has a nonce of
 * its own, and so another key for its content.
 * @param cost the logarithm of the cost of scrypt; tests use a lower one
 */
export function ageEncryption(passphrase: string, cost: number = workFactor): AgeEncryption {
  let sharedHeader: ReturnType<typeof createHeader> | undefined;
  return async function* (source) {
    sharedHeader ??= createHeader(passphrase, cost);
    const { fileKey, header } = await sharedHeader;
    const nonce = randomBytes(nonceBytes);
    yield header;
    yield nonce;
    const key = payloadKey(fileKey, nonce);
    const plain = createByteReader(source);
    try {
      let chunk = await plain.read(chunkBytes);
      for (let index = 0; ; index += 1) {
        const next = chunk.length < chunkBytes ? undefined : await plain.read(chunkBytes);
        const isLast = next === undefined || next.length === 0;
        yield encryptBytes(key, chunkNonce(index, isLast), chunk);
        if (isLast) return;
        chunk = next;
      }
    } finally {
      await plain.close();
    }
  };
}

/** Encrypts a stream with a passphrase. */
export const encryptAge = (passphrase: string, source: AsyncIterable<Buffer>, cost?: number): AsyncGenerator<Buffer> =>
  ageEncryption(passphrase, cost)(source);

/** Decrypts several streams with one passphrase. Scrypt runs once for all streams that share a file key. */
export function ageDecryption(passphrase: string): AgeDecryption {
  let lastHeader: { readonly header: string; readonly fileKey: Buffer } | undefined;
  return async function* (source) {
    const file = createByteReader(source);
    const readLine = async () => (await file.readThrough(newLine, maxLineBytes))?.toString('latin1') ?? '';
    try {
      const header = [await readLine(), await readLine(), await readLine(), await readLine()].join('');
      if (lastHeader?.header !== header) lastHeader = { header, fileKey: await readFileKey(passphrase, header) };
      const nonce = await file.read(nonceBytes);
      if (nonce.length < nonceBytes) throw new AgeError('damaged');
      const key = payloadKey(lastHeader.fileKey, nonce);
      let chunk = await file.read(chunkBytes + tagBytes);
      for (let index = 0; ; index += 1) {
        const next = await file.read(chunkBytes + tagBytes);
        const isLast = next.length === 0;
        const plain = decryptBytes(key, chunkNonce(index, isLast), chunk);
        // The last chunk is empty only if the whole file is.
        if (plain === undefined || (plain.length === 0 && index > 0)) throw new AgeError('damaged');
        yield plain;
        if (isLast) return;
        chunk = next;
      }
    } finally {
      await file.close();
    }
  };
}

/** Decrypts a stream with a passphrase. */
export const decryptAge = (passphrase: string, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> =>
  ageDecryption(passphrase)(source);

async function createHeader(passphrase: string, cost: number): Promise<{ fileKey: Buffer; header: Buffer }> {
  const fileKey = randomBytes(fileKeyBytes);
  const salt = randomBytes(saltBytes);
  const wrapped = encryptBytes(await wrappingKey(passphrase, salt, cost), Buffer.alloc(12), fileKey);
  const header = `${versionLine}\n-> scrypt ${base64(salt)} ${cost}\n${base64(wrapped)}\n---`;
  return { fileKey, header: Buffer.from(`${header} ${base64(headerMac(fileKey, header))}\n`) };
}

async function readFileKey(passphrase: string, text: string): Promise<Buffer> {
  const [, salt = '', cost = '', body = '', mac = ''] =
    /^age-encryption\.org\/v1\n-> scrypt ([A-Za-z0-9+/]{22}) ([1-9]\d?)\n([A-Za-z0-9+/]{43})\n--- ([A-Za-z0-9+/]{43})\n$/.exec(
      text,
    ) ?? [];
  if (mac === '' || Number(cost) > maxWorkFactor) throw new AgeError('damaged');
  const key = await wrappingKey(passphrase, Buffer.from(salt, 'base64'), Number(cost));
  const fileKey = decryptBytes(key, Buffer.alloc(12), Buffer.from(body, 'base64'));
  if (fileKey === undefined) throw new AgeError('passphrase');
  const expected = headerMac(fileKey, text.slice(0, text.lastIndexOf(' ')));
  if (!equalBytes(expected, Buffer.from(mac, 'base64'))) throw new AgeError('damaged');
  return fileKey;
}

function wrappingKey(passphrase: string, salt: Buffer, cost: number): Promise<Buffer> {
  const labelledSalt = Buffer.concat([Buffer.from(scryptLabel), salt]);
  const options: ScryptOptions = { N: 2 ** cost, r: 8, p: 1, maxmem: 2 ** cost * 1024 + 2 ** 20 };
  return new Promise((resolve, reject) => {
    scrypt(passphrase, labelledSalt, 32, options, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

const headerMac = (fileKey: Buffer, header: string) =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', fileKey, '', 'header', 32)))
    .update(header)
    .digest();

const payloadKey = (fileKey: Buffer, nonce: Buffer) => Buffer.from(hkdfSync('sha256', fileKey, nonce, 'payload', 32));

/** The number of the chunk in eleven bytes, and whether it is the last one. */
function chunkNonce(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(index, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function encryptBytes(key: Buffer, nonce: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: tagBytes });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined if the key is another one, or the bytes were changed. */
function decryptBytes(key: Buffer, nonce: Buffer, encrypted: Buffer): Buffer | undefined {
  if (encrypted.length < tagBytes) return undefined;
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(encrypted.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(encrypted.subarray(0, -tagBytes)), decipher.final()]);
  } catch {
    return undefined;
  }
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
