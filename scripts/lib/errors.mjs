/** A failure whose message is all that a person needs: it is printed without a stack. */
export class PrepareError extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode] of the process that gives up because of it
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
