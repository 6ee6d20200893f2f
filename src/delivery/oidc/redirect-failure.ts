import type { ProviderProblemCode } from '../../contract/login-provider/problems.js';
import type { FailedExchange } from '../../login/providers/provider.js';

/** The error for the app, for each problem. The others are `failed`. */
const errorOf: Readonly<Partial<Record<ProviderProblemCode, FailedExchange['error']>>> = {
  access_denied: 'access_denied',
  provider_unreachable: 'provider_unavailable',
  metadata_invalid: 'provider_unavailable',
};

/** A login at a provider that failed there. */
export class RedirectFailure extends Error implements FailedExchange {
  readonly error: FailedExchange['error'];
  override readonly cause: unknown;

  /** @param detail what operators may see of the cause; without it the message of the cause */
  constructor(
    readonly problem: ProviderProblemCode,
    cause: unknown,
    readonly detail: string | undefined = cause instanceof Error ? cause.message : undefined,
  ) {
    super(`the login at the provider failed: ${problem}${detail === undefined ? '' : ` (${detail})`}`);
    this.name = 'RedirectFailure';
    this.cause = cause;
    this.error = errorOf[problem] ?? 'failed';
  }
}
