type EmbeddedPostgresErrorCode =
  | 'no_binaries'
  | 'no_database'
  | 'no_account'
  | 'data_dir_unusable'
  | 'wrong_major_version'
  | 'start_failed';

/** The embedded PostgreSQL cannot run. The message says what the operator can do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The message of a thrown value, for the cause inside a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The errno or SQLSTATE of a thrown value. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
