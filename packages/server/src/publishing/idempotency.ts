import type { Abortable } from '@postern/client';
import { UsageError } from '@postern/client/internal';

export interface OnceOptions extends Abortable {
  /**
   * Names the event, such as `payment-4711`. A repeat within 24 hours does nothing and gets the first answer. There is no default:
   * after a restart, a random key would differ, and the event would be published twice. Up to 255 printable ASCII characters.
   */
  readonly idempotencyKey: string;
}

/** The header of a request that takes effect once. @throws UsageError */
export function onceHeader(options: OnceOptions | undefined, maxLength = 255): { readonly 'idempotency-key': string } {
  const key = options?.idempotencyKey;
  if (typeof key !== 'string' || !/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key) || key.length > maxLength) {
    throw new UsageError(
      `\`idempotencyKey\` must name what happened, such as 'payment-4711': 1 to ${maxLength} printable ASCII characters.`,
    );
  }
  return { 'idempotency-key': key };
}
