import type { FieldError } from '../../lib/problem.js';

/** The maximum number of items of one request. */
export const maxItems = 1000;

/** The maximum size of the answer in bytes. The answer repeats an item for each of its users. */
const maxPublishedBytes = 64 * 1024 * 1024;

/** The maximum number of notifications that one request may publish. */
export const maxDeliveries = 10_000;

/** The number of notifications of an item, one for each of its users. The item may not be validated yet. */
export function countDeliveries(item: unknown): number {
  if (typeof item !== 'object' || item === null || !('user_ids' in item)) return 1;
  const { user_ids: userIds } = item;
  return Array.isArray(userIds) ? userIds.length : 1;
}

/** The error of a request that has too many notifications; empty if the number is allowed. */
export function deliveryLimitErrors(deliveries: number): FieldError[] {
  return deliveries > maxDeliveries ? [{ code: 'too_many_deliveries', params: { max: maxDeliveries } }] : [];
}

/**
 * The errors of a request that is too large, which may not be validated yet: validation reports every error, and 4 MiB can
 * contain two million invalid items.
 */
export function sizeErrors(request: unknown): FieldError[] {
  const items: unknown[] = Array.isArray(request) ? request : [request];
  if (items.length > maxItems) return [{ code: 'too_many_items', params: { max: maxItems } }];
  const errors = deliveryLimitErrors(items.reduce<number>((sum, item) => sum + countDeliveries(item), 0));
  if (errors.length > 0) return errors;
  const bytes = items.reduce<number>((sum, item) => sum + repeatedBytes(item), 0);
  if (bytes <= maxPublishedBytes) return [];
  return [{ code: 'too_much_published', params: { max: maxPublishedBytes / 2 ** 20 } }];
}

/** The size of an item in the answer, in bytes, if it has several users. For one user the limit of the body is enough. */
function repeatedBytes(item: unknown): number {
  const users = countDeliveries(item);
  return users < 2 ? 0 : users * Buffer.byteLength(JSON.stringify({ ...Object(item), user_ids: undefined }));
}
