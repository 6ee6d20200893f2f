import { hash } from 'node:crypto';
import { nilId } from '../../lib/ids.js';

/** Users are assigned to servers by buckets. The number is fixed for ever, because tables store bucket numbers. */
export const bucketCount = 4096;

/**
 * The bucket of a user: the first 12 bits of the SHA-256 of the 16 bytes of the id. So ids that are not random are spread
 * evenly too. The database function `user_bucket` computes the same.
 * @param userId a UUID, in any notation of its 32 hexadecimal digits
 * @throws Error for any other text
 */
export function bucketOf(userId: string): number {
  const hex = userId.length === 32 ? userId : userId.replaceAll(/[-{}]/g, '');
  if (!/^[0-9a-f]{32}$/i.test(hex)) throw new Error('a user id is not a UUID');
  return Number.parseInt(hash('sha256', Buffer.from(hex, 'hex'), 'hex').slice(0, 3), 16);
}

/** The bucket of the nil id, which is the user id of events without a user. It stays on `main`. */
export const fixedBucket = bucketOf(nilId);
