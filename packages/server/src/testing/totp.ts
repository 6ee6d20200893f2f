import { UsageError } from '@postern/client/internal';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** The length of a time step in seconds (RFC 6238). */
const step = 30;

/** Decodes base32 (RFC 4648), as the secrets of authenticator apps are written. */
function bytesOf(secret: string): Uint8Array<ArrayBuffer> {
  const digits = [...secret.toUpperCase().replaceAll(/[\s=]/g, '')].map((char) => alphabet.indexOf(char));
  if (digits.length === 0 || digits.includes(-1)) {
    throw new UsageError('`totp` takes the `secret` of `account.enrolTotp`, which is base32.');
  }
  const bits = digits.map((digit) => digit.toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

/**
 * The six digits that an authenticator app shows (RFC 6238, SHA-1).
 * @param now milliseconds since 1970
 */
export async function totpOf(secret: string, now: number): Promise<string> {
  const { subtle } = globalThis.crypto;
  const key = await subtle.importKey('raw', bytesOf(secret), { name: 'HMAC', hash: 'SHA-1' }, false, ['sign']);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(Math.floor(now / 1000 / step)));
  const digest = new DataView(await subtle.sign('HMAC', key, counter));
  const offset = digest.getUint8(digest.byteLength - 1) % 16;
  const number = (digest.getUint32(offset) % 2 ** 31) % 1_000_000;
  return `${number}`.padStart(6, '0');
}
