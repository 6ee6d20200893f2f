import { randomBytes } from 'node:crypto';

/** Bytes at least and at most. */
export interface Length {
  readonly min: number;
  readonly max: number;
}

/** The bytes of unpadded base64; undefined when there are too few or too many, or it is not how these bytes are written. */
export function readBase64(text: string, { min, max }: Length): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  // Spare bits that are set are another spelling of the same bytes, which not every verifier accepts.
  return bytes.length >= min && bytes.length <= max && writeBase64(bytes) === text ? bytes : undefined;
}

export function randomBase64(bytes: number): string {
  return writeBase64(randomBytes(bytes));
}

function writeBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
