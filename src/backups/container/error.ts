/** A backup cannot be created, read or restored. The message says what the operator can do. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
