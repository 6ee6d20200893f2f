import { randomBytes, randomUUID } from 'node:crypto';
import { uuidPattern } from '../contract/common.js';

const uuid = new RegExp(uuidPattern);

/**
 * The UUID of all zeros. Events without a user have it as their user id, and the guess budget counts all unknown devices
 * under it.
 */
export const nilId = '00000000-0000-0000-0000-000000000000';

/** Returns the id in lower case, as in every response. Undefined if the text is not a UUID. */
export function parseId(text: string): string | undefined {
  return uuid.test(text) ? text.toLowerCase() : undefined;
}

/**
 * Creates a random id (RFC 9562, version 4). Nobody can guess its 122 random bits. So the id of an authentication can also
 * be the secret that gives access to it.
 */
export function newId(): string {
  return randomUUID();
}

/**
 * Creates an id that begins with the time in milliseconds (RFC 9562, version 7, with 74 random bits), so rows of the same
 * time are next to each other in an index. Use it for tables with many rows, if the time of a row is not secret, and if
 * knowing the id gives no access.
 */
export function orderedId(): string {
  return `${timeDigits()}-7${randomUUID().slice(15)}`;
}

/**
 * Creates many ordered ids, all with the time of this call. It takes half the time of single calls of `orderedId`, and
 * creates a quarter of their garbage.
 */
export function orderedIds(count: number): string[] {
  const time = timeDigits();
  const bytes = randomBytes(count * bytesAfterTime);
  for (let start = 0; start < bytes.length; start += bytesAfterTime) {
    // The version, 7, and the variant.
    bytes.writeUInt8(0x70 | (bytes.readUInt8(start) & 0x0f), start);
    bytes.writeUInt8(0x80 | (bytes.readUInt8(start + 2) & 0x3f), start + 2);
  }
  const digits = bytes.toString('hex');
  return Array.from({ length: count }, (_, index) => {
    const start = index * 2 * bytesAfterTime;
    return `${time}-${digits.slice(start, start + 4)}-${digits.slice(start + 4, start + 8)}-${digits.slice(start + 8, start + 20)}`;
  });
}

/** The number of bytes after the time: the version with 12 random bits, then the variant with 62 random bits. */
const bytesAfterTime = 10;

/** The first 12 digits of an ordered id: the time in milliseconds, as `01234567-89ab`. */
function timeDigits(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** Converts an id to its 16 bytes. */
export function idToBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** Converts 16 bytes to an id. */
export function idFromBytes(bytes: Buffer): string {
  return idFromHex(bytes.toString('hex'));
}

/** Converts 32 hexadecimal digits in lower case to an id. */
export function idFromHex(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
