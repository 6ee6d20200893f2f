import { timingSafeEqual } from 'node:crypto';

/** A parsed password hash: how to verify it, and what that costs. */
export interface PasswordHash {
  /** Such as `bcrypt`. The limits for imported hashes are set by algorithm. */
  readonly algorithm: string;
  /** The cost of verifying, in the algorithm's own measures. Parsers do not limit it. */
  readonly cost: Readonly<Record<string, number>>;
  /**
   * Algorithm and parameters: the text of `stored` before the salt. Hashes with the same scheme take the same time to
   * verify. The SQL function `imported_scheme` finds the same text.
   */
  readonly scheme: string;
  /** The text to store: the scheme, the salt and the output, each after a `$`. It parses to the same hash. */
  readonly stored: string;
  /** Bytes of a password that the algorithm reads, if it ignores the rest. */
  readonly maxPasswordBytes?: number;
  /** The stored text with zeros in place of the output: everything that `derive` depends on besides the password. */
  readonly withoutOutput: string;
  /** What `derive` returns for the right password. */
  readonly output: Buffer;
  /**
   * Computes the output for a password. Does not block the event loop for more than a few milliseconds.
   * @param password as it was hashed, not normalized
   */
  derive(password: string): Promise<Buffer>;
}

/** Whether a password is the right one, in a time that does not depend on the place of the first difference. */
export async function matches(hash: PasswordHash, password: string): Promise<boolean> {
  const derived = await hash.derive(password);
  return derived.length === hash.output.length && timingSafeEqual(derived, hash.output);
}

/** A format of password hashes. */
export interface HashFormat {
  /**
   * Strict: undefined for every text that cannot be verified.
   * @throws HashLengthError if a part of a text in this format has a wrong length
   */
  parse(text: string): PasswordHash | undefined;
  /**
   * A dummy hash with this scheme, which no password matches. If the scheme belongs to another format, the result is a
   * text that does not parse.
   */
  dummyHash(scheme: string): string;
}

/** A range of lengths in bytes, both ends included. */
export interface Length {
  readonly min: number;
  readonly max: number;
}

/** A part of a hash has a wrong length, such as a hash that a short database column has cut. */
export class HashLengthError extends Error {
  override readonly name = 'HashLengthError';
  readonly part: 'salt' | 'hash' | 'key';
  readonly length: number;
  readonly allowed: Length;

  constructor(part: HashLengthError['part'], length: number, allowed: Length) {
    super(`the ${part} has ${length} bytes`);
    this.part = part;
    this.length = length;
    this.allowed = allowed;
  }
}

/** @throws HashLengthError if the length is out of range */
export function checkLength(part: HashLengthError['part'], length: number, allowed: Length): void {
  if (length < allowed.min || length > allowed.max) throw new HashLengthError(part, length, allowed);
}
