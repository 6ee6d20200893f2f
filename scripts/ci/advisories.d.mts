/** The result of `npm audit --json`. */
export interface Audit {
  /** Whether the registry has answered. */
  readonly checked: boolean;
  /** One line for each vulnerability. */
  readonly lines: readonly string[];
  /** Whether one is high or critical. */
  readonly serious: boolean;
}

export function readAudit(output: string): Audit;
/** @param isStrict whether a registry that does not answer is a failure */
export function exitCode(audit: Pick<Audit, 'checked' | 'serious'>, isStrict: boolean): 0 | 1;
