/** A password hash that was read from its text: how to verify it, and what that costs. */
export interface PasswordHash {
  /** Such as `bcrypt`: what the bounds of a hash that may be imported go by. */
  readonly algorithm: string;
  /** What verifying costs, by the algorithm's own measures. Which of them may be how large is none of a parser's business. */
  readonly cost: Readonly<Record<string, number>>;
  /** Algorithm and parameters, the text up to its salt. Hashes that share it take the same work. */
  readonly scheme: string;
  /** Bytes of a password, if more of them are not looked at. */
  readonly readsBytes?: number;
  /** Beside the event loop. @param password in the form in which it was hashed */
  verify(password: string): Promise<boolean>;
}

/** One family of password hashes. */
export interface HashKind {
  /** Strictly: what is undefined here is not verifiable either. */
  parse(text: string): PasswordHash | undefined;
  /** The text of a hash with this scheme that no password has; of a scheme of another kind, nothing that can be parsed. */
  standIn(scheme: string): string;
}
