/** A backup cannot be created, read or restored. The message says what the operator can do. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** A file is not a backup that can be used. Another file of the same store may be. */
export class UnusableFileError extends BackupError {}
