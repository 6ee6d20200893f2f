import type { ErrorCode, FieldErrorCode, FieldHint } from '../contract/errors.js';

/** One faulty field of a request. `field` is a path such as `identity.type` or `0.user_id`. */
export interface FieldError {
  readonly field?: string;
  readonly code: FieldErrorCode;
  /** Values for the placeholders of the code's text in `contract/errors.ts`. */
  readonly params?: Readonly<Record<string, string | number>>;
  /** What the message adds to the code's text. */
  readonly hint?: FieldHint;
}

export interface ProblemOptions {
  readonly errors?: readonly FieldError[];
  /** Values for the placeholders of the problem's own text. */
  readonly params?: Readonly<Record<string, string | number>>;
  /** Whole seconds, at least 1, after which a repeat may succeed. */
  readonly retryAfter?: number;
  /** Further members of the problem body (RFC 9457, section 3.2). Never a secret. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Response headers that belong to this problem, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The private cause: goes to the log, never to the client. */
  readonly cause?: unknown;
}

/**
 * A refusal with a stable code. The domain throws it without knowing of HTTP; `http/plugins/problems.ts` is the one
 * place that turns it into a response.
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

/** The fault of a value that is none of the choices. Where nothing is configured to choose from, the fault says so. */
export function choiceFault(field: string, choices: readonly string[]): FieldError {
  if (choices.length === 0) return { field, code: 'none_configured' };
  return { field, code: 'invalid_choice', params: { allowed: choices.join(', ') } };
}

/** Throws one `validation_failed` problem that names every fault, or returns when there is none. */
export function refuseFaults(faults: readonly FieldError[]): void {
  if (faults.length > 0) throw new Problem('validation_failed', { errors: faults });
}
