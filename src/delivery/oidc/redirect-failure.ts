import type { FailedExchange } from '../../login/providers/provider.js';

/** A login at a provider that failed there, with what the app is told. */
export class RedirectFailure extends Error {
  constructor(
    readonly code: FailedExchange['error'],
    cause: unknown,
  ) {
    super(`the login at the provider failed: ${code}`, { cause });
    this.name = 'RedirectFailure';
  }
}
