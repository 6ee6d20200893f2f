/** A parsed password hash: how to verify it, and what that costs. */
export interface PasswordHash {
  /** Such as `bcrypt`. The limits for imported hashes are set by algorithm. */
  readonly algorithm: string;
  /** The cost of verifying, in the algorithm's own measures. Parsers do not limit it. */
  readonly cost: Readonly<Record<string, number>>;
  /** Algorithm and parameters: the text before the salt. Hashes with the same scheme take the same time to verify. */
  readonly scheme: string;
  /** Bytes of a password that the algorithm reads, if it ignores the rest. */
  readonly maxPasswordBytes?: number;
  /** Does not block the event loop. @param password normalized as when it was hashed */
  verify(password: string): Promise<boolean>;
}

/** A format of password hashes. */
export interface HashFormat {
  /** Strict: undefined for every text that cannot be verified. */
  parse(text: string): PasswordHash | undefined;
  /**
   * A dummy hash with this scheme, which no password matches. If the scheme belongs to another format, the result is a
   * text that does not parse.
   */
  dummyHash(scheme: string): string;
}
