import { createHmac } from 'node:crypto';
import { equalBytes } from './secret-keys.js';

/** Lifetime of a code in seconds (RFC 6238, section 5.2). */
export const totpPeriod = 30;

/** The time-based one-time code (RFC 6238) of a step, with SHA-1, which all authenticator apps support. */
export function totpCode(secret: Buffer, step: number, digits = 6): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  // Dynamic truncation (RFC 4226, section 5.3): the last four bits are the offset of the 31 bits.
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * The step of a code: the current one, the previous one for users who type slowly, or the next one for phones whose clock
 * is fast.
 */
export function stepOfCode(secret: Buffer, code: string, currentStep: number): number | undefined {
  const codeBytes = Buffer.from(code);
  return [currentStep, currentStep - 1, currentStep + 1]
    .filter((step) => equalBytes(codeBytes, Buffer.from(totpCode(secret, step))))
    .at(0);
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
