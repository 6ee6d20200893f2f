import { createHmac } from 'node:crypto';
import { equalBytes } from './secret-keys.js';

/** Seconds that a code lives (RFC 6238, section 5.2). */
export const totpPeriod = 30;

/** Time-based one-time codes of RFC 6238 with SHA-1, which is what authenticator apps know. */
export function totpCode(secret: Buffer, step: number, digits = 6): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  // Dynamic truncation (RFC 4226, section 5.3): the last four bits say where to read 31 bits.
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * Which step a code is of: this one, or the one before for whoever types slowly. Never a later one: a clock that is ahead
 * would let codes be used that nobody has been shown yet.
 */
export function stepOfCode(secret: Buffer, code: string, now: number): number | undefined {
  const given = Buffer.from(code);
  return [now, now - 1].filter((step) => equalBytes(given, Buffer.from(totpCode(secret, step)))).at(0);
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 of RFC 4648 without padding, as authenticator apps read secrets. */
export function base32(bytes: Buffer): string {
  let text = '';
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + alphabet[(value << (5 - bits)) & 31];
}
