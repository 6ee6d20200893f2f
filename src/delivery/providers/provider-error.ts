/**
 * Why a provider did not accept a message.
 *
 * - `invalid`: no provider can deliver it, for example because the recipient does not exist.
 * - `refused`: this provider will never send it, for example because it does not serve the country.
 * - `unavailable`: the provider fails, limits the rate or refuses the account. A later attempt may succeed.
 * - `unclear`: the provider may have accepted it, because its answer was lost. Only another attempt with the same id shows it.
 */
export type ProviderFailure = 'invalid' | 'refused' | 'unavailable' | 'unclear';

/** A message was not accepted. The error holds no part of the message and no text of the provider. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly provider: string;
  readonly failure: ProviderFailure;
  /** Seconds for which the provider wants no further message. */
  readonly retryAfter: number | undefined;

  /**
   * @param reason why, in words, without the name of the provider
   * @param isUnknownMailbox whether the address of a mail does not exist (a hard bounce)
   */
  constructor(
    provider: string,
    failure: ProviderFailure,
    readonly reason: string,
    retryAfter?: number,
    readonly isUnknownMailbox = false,
  ) {
    super(`${provider}: ${reason}`);
    this.provider = provider;
    this.failure = failure;
    this.retryAfter = retryAfter;
  }

  /** Whether no retry can succeed. */
  get permanent(): boolean {
    return this.failure === 'invalid' || this.failure === 'refused';
  }
}
