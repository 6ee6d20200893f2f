import { randomUUID } from 'node:crypto';
import { uuidPattern } from '../contract/patterns.js';

const uuid = new RegExp(uuidPattern);

/** The id in lower case, as every answer shows it; undefined when the text is not a UUID. */
export function parseId(text: string): string | undefined {
  return uuid.test(text) ? text.toLowerCase() : undefined;
}

/** A new random id (RFC 9562 version 4: 122 random bits, so an authentication's id can serve as its capability). */
export function newId(): string {
  return randomUUID();
}

/**
 * Gives new ids that begin with the time in milliseconds (RFC 9562 version 7: 74 random bits), that of this call: what is
 * made in a moment lies side by side in an index. For rows that are made in masses, whose time is no secret and whose id
 * is no capability.
 */
export function orderedIds(): () => string {
  const time = Date.now().toString(16).padStart(12, '0');
  const beginning = `${time.slice(0, 8)}-${time.slice(8)}-7`;
  return () => beginning + randomUUID().slice(15);
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
