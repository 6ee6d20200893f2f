import type { FieldErrorCode } from '../contract/errors/fields.js';
import type { FieldHint, ProblemHint } from '../contract/errors/hints.js';
import type { ErrorCode } from '../contract/errors/problems.js';

/** A field error of a request. `field` is a path such as `identity.type` or `0.user_id`. */
export interface FieldError {
  readonly field?: string;
  readonly code: FieldErrorCode;
  /** Values for the placeholders of the code's text in `contract/errors/`. */
  readonly params?: Readonly<Record<string, string | number>>;
  /** An addition to the code's text in the message. */
  readonly hint?: FieldHint;
}

export interface ProblemOptions {
  readonly errors?: readonly FieldError[];
  /** Values for the placeholders of the problem's own text. */
  readonly params?: Readonly<Record<string, string | number>>;
  /** A sentence after the problem's own text, for a cause that the code does not name. */
  readonly hint?: ProblemHint;
  /** Whole seconds, at least 1, after which a retry may succeed. */
  readonly retryAfter?: number;
  /** Further members of the problem body (RFC 9457, section 3.2). Never a secret. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Response headers of this problem, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The internal cause. It is logged, and never sent to the client. */
  readonly cause?: unknown;
}

/**
 * An error with a stable code. Domain code throws it and does not depend on HTTP. Only `http/plugins/problems.ts` turns it
 * into a response.
 */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    readonly code: ErrorCode,
    readonly options: ProblemOptions = {},
  ) {
    super(code, options.cause === undefined ? undefined : { cause: options.cause });
  }
}

/** The field error of a value that is not one of the choices. It says so if nothing is configured to choose from. */
export function choiceError(field: string, choices: readonly string[]): FieldError {
  if (choices.length === 0) return { field, code: 'none_configured' };
  return { field, code: 'invalid_choice', params: { allowed: choices.join(', ') } };
}

/** @throws Problem `validation_failed` with all field errors, if there are any */
export function throwIfErrors(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new Problem('validation_failed', { errors });
}
