import { type Abortable, wait } from './platform.js';
import { stopwatch } from './time.js';
import type { FieldError, ProblemStatuses } from './wire.js';

/** The code of a problem. A newer service may send other codes, so keep a default branch. */
export type ProblemCode = keyof ProblemStatuses;

/** Counts down the whole seconds until a time. It measures from the answer, so a wrong clock of the device has no effect. */
export interface Countdown {
  /** By the clock of the device. */
  readonly until: Date;
  /**
   * Yields the remaining seconds at once and then each second. Ends after 0, or when the signal aborts.
   * It uses a timer only while you iterate.
   */
  readonly countdown: (options?: Abortable) => AsyncIterable<number>;
}

/** Creates a countdown that ends in this many seconds. */
function countdownOf(seconds: number): Countdown {
  const elapsed = stopwatch();
  return {
    until: new Date(Date.now() + seconds * 1000),
    async *countdown({ signal } = {}) {
      for (;;) {
        const left = Math.max(0, Math.ceil(seconds - elapsed() / 1000));
        yield left;
        if (left === 0 || signal?.aborted) return;
        await wait(seconds * 1000 - elapsed() - (left - 1) * 1000, signal);
      }
    },
  };
}

// The same symbol in each copy of this package, so that errors of one copy are recognised by another.
const brand = Symbol.for('@postern/client.error');

/** The members of all errors of this package. Narrow by `kind`, not by `instanceof`: a page may load two copies of the package. */
class BaseError<K extends string> extends Error {
  declare readonly kind: K;

  constructor(kind: K, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PosternError';
    this.kind = kind;
    Object.defineProperty(this, brand, { value: true });
  }
}

interface ProblemBody {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly request_id?: unknown;
  readonly errors?: unknown;
  readonly human_check?: unknown;
}

/** Postern answered with a problem. */
export class ProblemError<C extends ProblemCode = ProblemCode> extends BaseError<'problem'> {
  declare readonly code: C;
  declare readonly status: ProblemStatuses[C];
  declare readonly title: string;
  /** For people, in the language of the request. */
  declare readonly detail: string;
  /** Give it to the operator when you report the problem. */
  declare readonly request_id: string | null;
  /** The invalid fields of a `validation_failed`. */
  declare readonly errors: readonly FieldError[];
  /** When to try again, if the service said so. */
  declare readonly retry: Countdown | null;
  /** The challenge of a `human_check_required`. The client solves it by itself. */
  declare readonly human_check: unknown;

  constructor(status: number, body: ProblemBody, retryAfter: string | null) {
    super('problem', `${body.detail ?? body.title}`);
    this.code = `${body.type}`.slice(problemType.length) as C;
    this.status = status as ProblemStatuses[C];
    this.title = `${body.title}`;
    this.detail = this.message;
    this.request_id = typeof body.request_id === 'string' ? body.request_id : null;
    this.errors = Array.isArray(body.errors) ? body.errors : [];
    this.human_check = body.human_check;
    this.retry = retryAfter !== null && Number(retryAfter) >= 0 ? countdownOf(Number(retryAfter)) : null;
  }

  /** The error of one field, such as `password` or `identity.value`. */
  field(name: string): FieldError | undefined {
    return this.errors.find(({ field }) => field === name);
  }
}

/** No answer: no network, a time-out, a refused connection, CORS. Whether the request took effect is unknown. */
export class NetworkError extends BaseError<'network'> {
  constructor(
    readonly timedOut: boolean,
    cause: unknown,
  ) {
    super('network', timedOut ? 'Postern did not answer in time.' : 'Postern cannot be reached.', { cause });
  }
}

/** An answer that is not from Postern, such as the page of a captive portal or a 502 of a proxy. */
export class ForeignAnswerError extends BaseError<'foreign_answer'> {
  constructor(readonly status: number) {
    super('foreign_answer', `The answer (${status}) is not from Postern. Check \`url\` and the proxies.`);
  }
}

/** Nobody is signed in, so nothing was sent. */
export class SignedOutError extends BaseError<'signed_out'> {
  constructor() {
    super('signed_out', 'Nobody is signed in.');
  }
}

/** The user closed a passkey prompt or your proof dialog. */
export class CancelledError extends BaseError<'cancelled'> {
  constructor(options?: ErrorOptions) {
    super('cancelled', 'The user cancelled.', options);
  }
}

/** The service wants a proof that this user cannot give yet: the user must first set up an authenticator app or a passkey. */
export class EnrolmentRequiredError extends BaseError<'enrolment_required'> {
  /** The same as `kind`. */
  readonly code = 'enrolment_required';

  constructor() {
    super('enrolment_required', 'Set up an authenticator app or a passkey first.');
  }
}

/** The platform lacks a feature, such as WebAuthn or Web Push. */
export class UnsupportedError extends BaseError<'unsupported'> {
  constructor(readonly feature: string) {
    super('unsupported', `This platform has no ${feature}.`);
  }
}

const providerMessages = {
  provider_unavailable: 'The provider did not answer.',
  expired: 'The sign-in took too long. Begin again.',
  failed: 'The answer of the provider was wrong. The log of Postern says why.',
};

/** A provider, such as Google, did not answer a redirect as it should. */
export class ProviderError extends BaseError<'provider'> {
  constructor(readonly code: keyof typeof providerMessages) {
    super('provider', providerMessages[code]);
  }
}

/** A mistake in the program. The message says what to do. */
export class UsageError extends BaseError<'usage'> {
  constructor(message: string) {
    super('usage', message);
  }
}

/** A problem, with `C` only of these codes. Check `code` to narrow the type. */
export type Problem<C extends ProblemCode = ProblemCode> = C extends ProblemCode ? ProblemError<C> : never;

export type PosternError =
  | Problem
  | NetworkError
  | ForeignAnswerError
  | SignedOutError
  | CancelledError
  | EnrolmentRequiredError
  | UnsupportedError
  | ProviderError
  | UsageError;

/**
 * Whether an error is from this package. Its `kind` then says which.
 *
 * @example
 * ```ts
 * import { isPosternError, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * try {
 *   await postern.getSession();
 * } catch (error) {
 *   if (isPosternError(error) && error.kind === 'network') console.log('You are offline.');
 *   else throw error;
 * }
 * ```
 */
export function isPosternError(error: unknown): error is PosternError {
  return typeof error === 'object' && error !== null && brand in error;
}

/**
 * Whether an error is a problem of one of these codes; without codes, of any.
 *
 * @example
 * ```ts
 * import { isProblem } from '@postern/client';
 *
 * export const text = (error: unknown) =>
 *   isProblem(error, 'identity_taken') ? 'This name is taken.' : isProblem(error) ? error.detail : 'Please try again.';
 * ```
 */
export function isProblem<C extends ProblemCode = ProblemCode>(
  error: unknown,
  ...codes: readonly C[]
): error is Problem<C> {
  return isPosternError(error) && error.kind === 'problem' && (codes.length === 0 || codes.includes(error.code as C));
}

/** Whether the service has refused the session or the token of a request. */
export const isUnauthorized = (error: unknown) => isProblem(error) && error.status === 401;

const problemType = 'urn:postern:problem:';

/**
 * The problem in an answer to a request of your own, such as one of `postern.fetch`. Null if there is none. It reads the body.
 *
 * @example
 * ```ts
 * import { problemFrom, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const answer = await postern.fetch(`${postern.url}v1/devices`);
 * const problem = await problemFrom(answer);
 * if (problem) console.log(problem.code, problem.detail);
 * ```
 */
export async function problemFrom(answer: Response): Promise<Problem | null> {
  if (answer.ok || !/\bproblem\+json\b/.test(answer.headers.get('content-type') ?? '')) return null;
  const body = (await answer.json().catch(() => null)) as ProblemBody | null;
  if (typeof body?.type !== 'string' || !body.type.startsWith(problemType)) return null;
  return new ProblemError(answer.status, body, answer.headers.get('retry-after')) as Problem;
}
