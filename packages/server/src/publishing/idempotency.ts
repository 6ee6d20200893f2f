import type { Abortable } from '@postern/client';
import { UsageError } from '@postern/client/internal';

export interface OnceOptions extends Abortable {
  /**
   * Names the event, such as `payment-4711`. A call with the same key within 24 hours does nothing and returns the first answer.
   * There is no default: a random key would differ after a restart, and the event would be published twice. 1 to 255 printable
   * ASCII characters (`publishAll`: 1 to 200), without a space at the start or the end.
   */
  readonly idempotencyKey: string;
}

/** The header with the key of a request that takes effect only once. @throws UsageError for a key that is missing or not valid */
export function onceHeader(options: OnceOptions | undefined, maxLength = 255): { readonly 'idempotency-key': string } {
  const key = options?.idempotencyKey;
  if (typeof key !== 'string' || !/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key) || key.length > maxLength) {
    throw new UsageError(
      `\`idempotencyKey\` must name the event, such as 'payment-4711': 1 to ${maxLength} printable ASCII characters, without a space at the start or the end.`,
    );
  }
  return { 'idempotency-key': key };
}
