import { randomBytes, randomUUID } from 'node:crypto';
import { uuidPattern } from '../contract/patterns.js';

const uuid = new RegExp(uuidPattern);

/** All zeros. Stands for the user in events that concern none, and for the device in guess budgets of all unknown ones. */
export const nilId = '00000000-0000-0000-0000-000000000000';

/** The id in lower case, as every answer shows it; undefined when the text is not a UUID. */
export function parseId(text: string): string | undefined {
  return uuid.test(text) ? text.toLowerCase() : undefined;
}

/** A new random id (RFC 9562 version 4: 122 random bits, so an authentication's id can serve as its capability). */
export function newId(): string {
  return randomUUID();
}

/**
 * A new id that begins with the time in milliseconds (RFC 9562 version 7: 74 random bits): what is made in a moment lies
 * side by side in an index. For rows that are made in masses, whose time is no secret and whose id is no capability.
 */
export function orderedId(): string {
  return `${timeDigits()}-7${randomUUID().slice(15)}`;
}

/** Many of them with the time of this call, in half the time, and with a quarter of the garbage. */
export function orderedIds(count: number): string[] {
  const time = timeDigits();
  const bytes = randomBytes(count * randomLength);
  for (let at = 0; at < bytes.length; at += randomLength) {
    bytes.writeUInt8(0x70 | (bytes.readUInt8(at) & 0x0f), at);
    bytes.writeUInt8(0x80 | (bytes.readUInt8(at + 2) & 0x3f), at + 2);
  }
  const digits = bytes.toString('hex');
  return Array.from({ length: count }, (_, nth) => {
    const at = nth * 2 * randomLength;
    return `${time}-${digits.slice(at, at + 4)}-${digits.slice(at + 4, at + 8)}-${digits.slice(at + 8, at + 20)}`;
  });
}

/** Bytes behind the time: version and 12 random bits, variant and 62. */
const randomLength = 10;

function timeDigits(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

export function idToBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

export function idFromBytes(bytes: Buffer): string {
  return idFromHex(bytes.toString('hex'));
}

/** @param hex 32 digits in lower case. */
export function idFromHex(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
