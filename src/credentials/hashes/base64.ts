import { randomBytes } from 'node:crypto';

/** A range of lengths in bytes, both ends included. */
export interface Length {
  readonly min: number;
  readonly max: number;
}

/** Decodes unpadded base64 (RFC 4648). Undefined if the length is out of range or the encoding is not canonical. */
export function readBase64(text: string, { min, max }: Length): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  // RFC 4648, 3.5: set padding bits are another encoding of the same bytes, which some verifiers reject.
  return bytes.length >= min && bytes.length <= max && writeBase64(bytes) === text ? bytes : undefined;
}

/** @param bytes how many random bytes to encode */
export function randomBase64(bytes: number): string {
  return writeBase64(randomBytes(bytes));
}

function writeBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
