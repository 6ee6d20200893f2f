/** An error that is printed without a stack: its message is sufficient. */
export class PrepareError extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode] of the process that ends with this error
   */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * @param {unknown} error
 * @param {...string} codes of the operating system, such as `ENOENT`
 */
export function hasCode(error, ...codes) {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
