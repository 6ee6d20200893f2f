/**
 * Why a provider did not accept a message.
 *
 * - `invalid`: no provider can deliver it, for example because the number does not exist.
 * - `refused`: this provider will never send it, for example because it does not serve the country.
 * - `unavailable`: the provider fails, limits the rate or refuses the account. A later attempt may succeed.
 */
export type SmsFailure = 'invalid' | 'refused' | 'unavailable';

/** A message was not accepted. The error holds no part of the message and no text of the provider. */
export class SmsError extends Error {
  override readonly name = 'SmsError';
  readonly provider: string;
  readonly failure: SmsFailure;
  /** Seconds for which the provider wants no further message. */
  readonly retryAfter: number | undefined;

  /** @param reason why, in words, without the name of the provider */
  constructor(
    provider: string,
    failure: SmsFailure,
    readonly reason: string,
    retryAfter?: number,
  ) {
    super(`${provider}: ${reason}`);
    this.provider = provider;
    this.failure = failure;
    this.retryAfter = retryAfter;
  }

  /** Whether no retry can succeed. */
  get permanent(): boolean {
    return this.failure !== 'unavailable';
  }
}
