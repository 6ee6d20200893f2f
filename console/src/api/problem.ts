import type { FieldError, Problem } from './schema.js';

/** An answer that is a problem: the service understood the request and refused it, or failed. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly requestId: string | undefined;
  readonly errors: readonly FieldError[];
  /** Seconds after which a retry may succeed. */
  readonly retryAfter: number | undefined;
  /** The whole body: some problems have members of their own. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(response: Response, body: Partial<Problem> & Record<string, unknown>) {
    super(body.errors?.[0]?.message ?? body.detail ?? body.title ?? `HTTP ${response.status}`);
    this.status = response.status;
    this.requestId = body.request_id ?? response.headers.get('Request-ID') ?? undefined;
    this.errors = body.errors ?? [];
    const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
    this.retryAfter = Number.isFinite(seconds) ? seconds : undefined;
    this.body = body;
  }

  /** The code of the first error. */
  get code(): string {
    return this.errors[0]?.code ?? '';
  }

  /** The message for a field of the body, such as `email`, or for a part of it: `roles.1` is the second of `roles`. */
  messageFor(field: string): string | undefined {
    const isOf = (name = '') => name === field || name === `/${field}` || name.startsWith(`${field}.`);
    return this.errors.find((error) => isOf(error.field))?.message;
  }
}

/** The service could not be reached, or its answer was cut off. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}

/** The operator signed out, or another one signed in, while the request waited. */
export class SignedOutError extends Error {
  override readonly name = 'SignedOutError';
}

/** The operator did not re-authenticate. The request was not sent. */
export class NotConfirmedError extends Error {
  override readonly name = 'NotConfirmedError';
}

/** The problem of an answer, also where a proxy answered with something else. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const text = await response.text().catch(() => '');
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) return new ProblemError(response, { ...body });
  } catch {
    // The body is not from Postern, so only the status is known.
  }
  return new ProblemError(response, {});
}

/** Whether the same request can succeed later without a change. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  return error instanceof ProblemError && (error.status === 429 || error.status >= 500);
}
