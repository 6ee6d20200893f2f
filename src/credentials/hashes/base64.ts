import { randomBytes } from 'node:crypto';
import { checkLength, type HashLengthError, type Length } from './password-hash.js';

/**
 * Decodes base64 without padding (RFC 4648). Undefined if the encoding is not canonical.
 * @throws HashLengthError if the length is out of range
 */
export function readBase64(text: string, part: HashLengthError['part'], length: Length): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  // RFC 4648, 3.5: set padding bits are another encoding of the same bytes, which some verifiers reject.
  if (writeBase64(bytes) !== text) return undefined;
  checkLength(part, bytes.length, length);
  return bytes;
}

/** As `readBase64`, also with padding and with the alphabet for URLs. */
export function readAnyBase64(text: string, part: HashLengthError['part'], length: Length): Buffer | undefined {
  return readBase64(
    text
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .replace(/={1,2}$/, ''),
    part,
    length,
  );
}

/** @param bytes how many random bytes to encode */
export function randomBase64(bytes: number): string {
  return writeBase64(randomBytes(bytes));
}

/** @param bytes how many zero bytes to encode */
export function zeroBase64(bytes: number): string {
  return writeBase64(Buffer.alloc(bytes));
}

/** Base64 without padding. */
export function writeBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

const bcryptAlphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Decodes the base64 of bcrypt, which has another order of characters. */
export function readBcryptBase64(text: string): Buffer {
  return Buffer.from([...text].map((each) => base64Alphabet[bcryptAlphabet.indexOf(each)]).join(''), 'base64');
}

const cryptAlphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The base64 of crypt(3): three bytes are one little-endian number, whose lowest bits come first. */
export function writeCryptBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += 3) {
    const group = [...bytes.subarray(start, start + 3)];
    const value = group.reduce((sum, byte, place) => sum + byte * 256 ** place, 0);
    for (let place = 0; place <= group.length; place += 1) text += cryptAlphabet[Math.floor(value / 64 ** place) % 64];
  }
  return text;
}

/** @param characters how many random characters of the alphabet of crypt(3) to return */
export function randomCryptText(characters: number): string {
  return [...randomBytes(characters)].map((byte) => cryptAlphabet[byte % 64]).join('');
}
